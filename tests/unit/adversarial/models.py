"""Trials of the inferences that compare whole models: scores, seeds, tasks and layers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from glue import TASKS

from adversarial import sweeps
from adversarial.inferences import INFERENCES, LEVEL, NULL, POWER, Size, Trial, by_kind, once
from darksecrets.ablation.agreement import seed_agreement, task_agreement
from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.seeds import over_seeds
from darksecrets.ablation.statistics import Resampling
from darksecrets.finetuning import comparison
from darksecrets.finetuning.layers import Changes, last_layers

_TASK = dataclasses.replace(TASKS[sweeps.CLASSES], metrics=("accuracy",))
_SAMPLES = Resampling(bootstrap=200, permutations=199, splits=40, seed=3)
_DRAWS = {"bootstrap": 100, "permutations": 199, "seed": 3}
_STATES = ("finetuned", "finetuned-from-normal")
_SEED = 0.1  # standard deviation of what a seed adds to every margin


def score_differences(size: Size, folder: Path) -> Iterator[Trial]:
    """Differences of scores (Table 1), of states that are equal models, and of a better one."""
    for seeds in (2, 3, 1):  # in the order of power: one seed is taken as given
        for better, truth in ((0.0, NULL), (0.3, POWER)):
            rng, tables = np.random.default_rng(seeds), []
            shape = sweeps.Shape(size.examples, layers=1, heads=2 * seeds)
            for _ in range(size.sweeps):
                spread = _SEED if seeds > 1 else 0.0
                added = rng.normal(0, spread, 2 * seeds + 1)
                added[1 : seeds + 1] += better
                effects = dict(enumerate(added.tolist()))
                result = sweeps.sweep(sweeps.CLASSES, rng, shape, effects).result
                rows = result.predictions
                states = {
                    _STATES[0]: rows[1 : seeds + 1],
                    _STATES[1]: rows[seeds + 1 : 2 * seeds + 1],
                }
                outcomes = comparison.Outcomes(_TASK, result.labels, states, range(seeds))
                _, table, _ = comparison.compare([outcomes], comparison.Resampling(200, 3))
                tables.append(table)
            kind = f"{'equal models' if truth == NULL else 'a better state'}, {seeds} seeds"
            p = [table["p_value"] < LEVEL for table in tables]
            yield once("score_differences: p_value < 0.05", kind, p, LEVEL, truth)


def _of_seeds(size: Size, rng: np.random.Generator, effects: dict[int, float]) -> list[SweepResult]:
    """Sweeps of two seeds on the same examples, from one sweep with twice as many layers."""
    shape = sweeps.Shape(size.examples, size.layers, size.layers)
    twice = dataclasses.replace(shape, layers=2 * size.layers, sets=1)
    heads = size.layers**2
    every = {number + seed * heads: e for number, e in effects.items() for seed in (0, 1)}
    result = sweeps.sweep(sweeps.CLASSES, rng, twice, every).result
    found = []
    for seed in (0, 1):
        own = np.arange(heads) + 1 + seed * heads
        layers = np.arange(size.layers) + 1 + 2 * heads + seed * size.layers
        intact = [0] if seed == 0 else [len(result.sets) - 1]
        rows = np.concatenate([intact, own, layers]).astype(np.int64)
        found.append(
            dataclasses.replace(
                result, sets=sweeps.places(shape), predictions=result.predictions[rows]
            )
        )
    return found


def seed_effects(size: Size, folder: Path) -> Iterator[Trial]:
    """Effects over two seeds, agreement of seeds and of tasks (section 4.6)."""
    for truth, effect in ((NULL, 0.0), (POWER, 0.5)):
        rng = np.random.default_rng(7)
        effects, agree, tasks = [], [], []
        for _ in range(size.sweeps):
            known = _of_seeds(size, rng, {7: effect, 8: -effect, 9: -effect / 2})
            table, _ = over_seeds(dict(enumerate(known)), _TASK, _SAMPLES)
            effects.append(table[table["kind"] == "head"])
            agree.append(seed_agreement(_deltas(known, ("t", "t")), _DRAWS)["p_value"] < LEVEL)
            both = _deltas([known[0], _of_seeds(size, rng, {7: effect})[0]], ("t", "u"))
            found = task_agreement(both, {"t": "accuracy", "u": "accuracy"}, _DRAWS)
            tasks.append(found["p_value"] < LEVEL)
        kind = "equal models" if truth == NULL else "three heads matter for both seeds"
        if truth == NULL:
            p = [(of["p_value"] < LEVEL).to_numpy()[None] for of in effects]
            yield from by_kind("seed_effects: p_value < 0.05", truth, [kind], p, LEVEL)
        q = [of["q_value"] < LEVEL for of in effects]
        yield once("seed_effects: q_value < 0.05, any", kind, q, LEVEL, truth)
        yield once("seed_agreement: p_value < 0.05", kind, agree, LEVEL, truth)
        if truth == NULL:
            yield once("task_agreement: p_value < 0.05", kind, tasks, LEVEL)


def _deltas(results: list[SweepResult], tasks: tuple[str, str]) -> pd.DataFrame:
    """Effects of the heads, as `head_ablation.csv` has them: of two seeds, or of two tasks."""
    rows = []
    for number, (result, task) in enumerate(zip(results, tasks, strict=True)):
        score = (result.predictions == result.labels).mean(axis=1)
        heads = result.sets.assign(delta=100 * (score - score[0])).query("kind == 'head'")
        seed = number if len(set(tasks)) == 1 else 0
        rows.append(heads.assign(task=task, state="finetuned", metric="accuracy", seed=seed))
    return pd.concat(rows, ignore_index=True).astype({"layer": "int64", "head": "int64"})


def layers_changed(size: Size, folder: Path) -> Iterator[Trial]:
    """Do the last two layers change most (section 4.3)? All alike, or the last change more."""
    for truth, more in ((NULL, 0.0), (POWER, 0.15)):
        rng, tables = np.random.default_rng(8), []
        for _ in range(size.sweeps):
            of_example = rng.gamma(4, 0.1, size=(1, 60, 1))
            change = of_example * rng.gamma(4, 0.25, size=(1, 60, 6))
            change[..., -2:] += more
            between = rng.gamma(4, 0.1, size=(1, 60, 6))
            changes = Changes(change, between, np.full_like(change, np.nan))
            tables.append(last_layers({"t": changes}))
        kind = "all layers change alike" if truth == NULL else "the last two change more"
        for column in ("p_value", "p_greatest"):
            for scale in ("change", "relative"):
                p = [of.loc[of["scale"] == scale, column] < LEVEL for of in tables]
                name = f"last_layers ({scale}): {column} < 0.05"
                yield once(name, kind, p, LEVEL, truth)


ALL: tuple[Callable[[Size, Path], Iterator[Trial]], ...] = (
    *INFERENCES,
    score_differences,
    seed_effects,
    layers_changed,
)
"""Every trial: those of heads and sweeps, and those of whole models."""
