"""Trials of the inferences that compare whole models: scores, seeds, tasks and layers."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from glue import TASKS
from scipy.stats import norm

from adversarial import sweeps
from adversarial.trials import CI, LEVEL, LIMIT, NULL, POWER, Size, Statements, Trial
from darksecrets.core.interventions.results import SweepResult
from darksecrets.paper.ablation.agreement import task_agreement
from darksecrets.paper.ablation.seeds import effects_over_seeds
from darksecrets.paper.ablation.statistics import Resampling
from darksecrets.paper.finetuning import comparison
from darksecrets.paper.finetuning.cosine import Similarities
from darksecrets.paper.finetuning.cosine import table as cosine_table
from darksecrets.paper.finetuning.layers import Changes, last_layers

TASK = dataclasses.replace(TASKS[sweeps.CLASSES], metrics=("accuracy",))
SAMPLES = Resampling(bootstrap=200, permutations=199, splits=40, seed=3)
EQUAL = "equal models"
_ALIKE = "equal models, disabling a head changes the same examples for all seeds"
_LAYER = "all heads of a layer matter alike"
_OWN_LAYERS = "layers matter, others for each task, all heads of a layer alike"
_MATTER = "eight heads matter for both seeds"
_UNSTEADY = 7
"""Number of a head, from 1."""
_DRAWS = {"bootstrap": 200, "permutations": 199, "seed": 3}
_STATES = ("finetuned", "finetuned-from-normal")
_OF_SEEDS = {NULL: 0.3, POWER: 0.1}  # standard deviation of what a seed adds to every margin


def score_differences(size: Size, folder: Path) -> Iterator[Trial]:
    """Scores (Table 1), of states that are equal models, and of a better one, on two tasks."""
    for seeds in (2, 3, 1):  # in the order of power: one seed is taken as given
        for better, truth in ((0.0, NULL), (0.3, POWER)):
            rng, made = np.random.default_rng(seeds), Statements()
            spread = 0.0 if seeds == 1 else _OF_SEEDS[truth]
            for _ in range(size.sweeps):
                tasks = [_outcomes(rng, name, size, seeds, spread, better) for name in "tu"]
                means, differences, averaged = comparison.compare(
                    tasks, comparison.Resampling(200, 3)
                )
                for name, table in (
                    ("score_differences", differences),
                    ("mean_differences", averaged),
                ):
                    made.each(f"{name}: p_value < 0.05", table["p_value"] < LEVEL)
                    made.any(f"{name}: q_value < 0.05", table["q_value"] < LEVEL)
                    made.interval(name, "difference", table, CI)
                if truth == NULL:
                    true = 100 * sweeps.accuracy(noise=float(np.hypot(sweeps.NOISE, spread)))
                    made.interval("score_means", "score", means, CI, true)
            kind = f"{EQUAL if truth == NULL else 'a better state'}, {seeds} seeds"
            yield from made.trials(kind, truth)


def _outcomes(
    rng: np.random.Generator, task: str, size: Size, seeds: int, spread: float, better: float
) -> comparison.Outcomes:
    """Predictions of two states on a task, one of which may be better."""
    shape = sweeps.Shape(size.examples, layers=1, heads=2 * seeds)
    added = rng.normal(0, spread, 2 * seeds + 1)
    added[1 : seeds + 1] += better
    result = sweeps.sweep(sweeps.CLASSES, rng, shape, dict(enumerate(added.tolist()))).result
    rows = result.predictions[1 : 2 * seeds + 1]
    states = dict(zip(_STATES, np.split(rows, 2), strict=True))
    named = dataclasses.replace(TASK, name=task)
    return comparison.Outcomes(named, result.labels, result.units, states, range(seeds))


def of_seeds(size: Size, folder: Path) -> Iterator[Trial]:
    """Effects over two seeds (section 4.6)."""
    shape = sweeps.Shape(size.examples, size.layers, size.layers)
    matter = {number: 0.5 * (-1) ** number for number in range(7, 15)}
    for kind, shared, effects, truth in (
        (EQUAL, 0.0, {}, NULL),
        (_ALIKE, 0.9, {}, NULL),
        (_MATTER, 0.0, matter, POWER),
    ):
        rng, made = np.random.default_rng(7), Statements()
        for _ in range(size.sweeps):
            known = sweeps.several(rng, shape, [effects, effects], shared=shared)
            table = effects_over_seeds(dict(enumerate(known)), TASK, SAMPLES)
            heads = table[table["kind"] == "head"]
            made.any("seed_effects: q_value < 0.05", heads["q_value"] < LEVEL)
            if truth != POWER:
                made.each("seed_effects: p_value < 0.05", heads["p_value"] < LEVEL)
                made.interval("seed_effects", "delta", heads, CI)
        yield from made.trials(kind, truth)


def unsteady(size: Size, folder: Path) -> Iterator[Trial]:
    """A head whose effect differs between two seeds more than others do, and is 0 on average."""
    shape = sweeps.Shape(size.examples, size.layers, size.layers)
    rng, single, corrected = np.random.default_rng(8), Statements(), Statements()
    for _ in range(size.sweeps):
        effects = [{_UNSTEADY: effect} for effect in rng.normal(0, 0.5, 2).tolist()]
        known = sweeps.several(rng, shape, effects)
        table = effects_over_seeds(dict(enumerate(known)), TASK, SAMPLES)
        heads = table[table["kind"] == "head"]
        own = heads[(heads["layer"] - 1) * shape.heads + heads["head"] == _UNSTEADY]
        single.each("seed_effects: p_value < 0.05", own["p_value"] < LEVEL)
        corrected.any("seed_effects: q_value < 0.05", own["q_value"] < LEVEL)
    kind = "one head varies much more between seeds than the others"
    yield from single.trials(kind, LIMIT)
    yield from corrected.trials(kind)


def of_tasks(size: Size, folder: Path) -> Iterator[Trial]:
    """Agreement of tasks on the heads that matter, and of their worst heads (section 4.6)."""
    shape = sweeps.Shape(size.examples, size.layers, size.layers)
    matter = dict.fromkeys((7, 8, 12, 15, 16, 18), -0.8)
    layer = dict.fromkeys(range(1, size.layers + 1), -0.3)
    own_layers = np.random.default_rng(90)
    for kind, effects, truth in (
        (EQUAL, {}, NULL),
        (_LAYER, layer, NULL),
        (_OWN_LAYERS, None, NULL),
        ("six heads matter for all tasks", matter, POWER),
    ):
        rng, made = np.random.default_rng(9), Statements()
        for _ in range(size.sweeps):
            of_task = {
                task: _effects_of_layers(shape, own_layers) if effects is None else effects
                for task in "tuv"
            }
            tasks = {task: sweeps.several(rng, shape, [own]) for task, own in of_task.items()}
            deltas, metrics = _deltas(tasks), dict.fromkeys(tasks, "accuracy")
            found = task_agreement(deltas, metrics, _DRAWS)
            made.each("task_agreement: p_value < 0.05", found["p_value"] < LEVEL)
            made.any("task_agreement: q_value < 0.05", found["q_value"] < LEVEL)
            if kind == EQUAL or truth == POWER:
                made.interval("task_agreement", "spearman", found, CI)
        yield from made.trials(kind, truth)


def _effects_of_layers(shape: sweeps.Shape, rng: np.random.Generator) -> dict[int, float]:
    """Every layer matters as much as chance has it, all of its heads alike."""
    of_layers = np.repeat(rng.normal(scale=0.3, size=shape.layers), shape.heads)
    return dict(enumerate(of_layers.tolist(), start=1))


def _deltas(tasks: Mapping[str, Sequence[SweepResult]]) -> pd.DataFrame:
    """Effects of the heads, as `head_ablation.csv` has them, of the seeds of each task."""
    rows = []
    for task, results in tasks.items():
        for seed, result in enumerate(results):
            score = (result.predictions == result.labels).mean(axis=1)
            heads = result.sets.assign(delta=100 * (score - score[0])).query("kind == 'head'")
            about = {"task": task, "state": "finetuned", "metric": "accuracy", "seed": seed}
            rows.append(heads.assign(**about))
    return pd.concat(rows, ignore_index=True).astype({"layer": "int64", "head": "int64"})


def layers_changed(size: Size, folder: Path) -> Iterator[Trial]:
    """Do the last two layers change most (section 4.3)? All alike, or the last change more."""
    for seeds, more, truth in ((1, 0.0, NULL), (3, 0.0, NULL), (1, 0.25, POWER)):
        rng, made = np.random.default_rng(8), Statements()
        for _ in range(size.sweeps):
            changes = {"t": _changes(rng, seeds, more)}
            _of_layers(last_layers(changes), made, given=seeds == 1)
        kind = "all layers change alike" if truth == NULL else "the last two change more"
        yield from made.trials(f"{kind}, {seeds} {'seed' if seeds == 1 else 'seeds'}", truth)


def _changes(rng: np.random.Generator, seeds: int, more: float) -> Changes:
    """Examples differ in how much they change; seeds, in which layers change."""
    of_example = rng.gamma(4, 0.1, size=(1, 60, 1))
    of_seed = 1 + (0.3 * rng.standard_normal((seeds, 1, 6)) if seeds > 1 else 0)
    change = of_seed * of_example * rng.gamma(4, 0.25, size=(seeds, 60, 6))
    change[..., -2:] += more
    between = np.broadcast_to(rng.gamma(4, 0.1, size=(1, 60, 6)), change.shape)
    return Changes(change, between)


def _of_layers(table: pd.DataFrame, made: Statements, *, given: bool) -> None:
    """What is said of the last two layers; `given` these fine-tunings, also the tests."""
    for scale in ("change", "relative"):
        rows, name = table[table["scale"] == scale], f"last_layers ({scale})"
        made.interval(name, "difference", rows, CI)
        made.each(f"{name}: probability > 0.975", rows["probability"] > 1 - LEVEL / 2)
        for column in ("p_value", "p_greatest", "q_value", "q_greatest") if given else ():
            made.each(f"{name}: {column} < 0.05", rows[column] < LEVEL)


def similarities(size: Size, folder: Path) -> Iterator[Trial]:
    """Cosines before and after fine-tuning (Figure 5), whose true means are known."""
    rng, made = np.random.default_rng(10), Statements()
    for _ in range(size.sweeps):
        every = norm.cdf(rng.normal(size=(4, 60, 1, 1)) + rng.normal(size=(4, 60, 3, 3)))
        table = cosine_table(Similarities(np.arange(60), *every))
        made.interval("cosine", "similarity", table, CI, 0.5)
    yield from made.trials("cosines of examples vary by chance")
