"""Heads kept by gates that learn, beside as many by the absolute gradient, and at random.

Training on alone changes a score. So heads that gates have closed are compared twice: removed from
the fine-tuned model, with as many heads removed by others; and with the weights trained on, with
others that were removed for an equal training. Training examples choose heads, all validation
examples score them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
import transformers

from darksecrets.beyond.importance import declared
from darksecrets.beyond.importance.declared import LEARNED_GATES, RANDOM, LearnedGates
from darksecrets.beyond.importance.measure.curves import DECIMALS, weights_of_draws
from darksecrets.beyond.importance.measure.gradients import logits_without
from darksecrets.beyond.importance.measure.learning import (
    Start,
    Trained,
    open_probability,
    settled,
    train_on,
)
from darksecrets.beyond.importance.measure.orders import Order
from darksecrets.beyond.importance.measure.pruning import ascending
from darksecrets.core.arrays import Floats, Integers, Singles, Values
from darksecrets.core.data.metrics import (
    METRICS,
    PERCENT,
    predict,
    score_of_most_frequent,
    score_resampled,
)
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import shape_of
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.run.files import fingerprint
from darksecrets.core.run.resuming import resuming
from darksecrets.core.stats.draws import reach_of_one_more
from darksecrets.core.stats.resampling import feasible, interval

if TYPE_CHECKING:
    from darksecrets.core.data.tasks import Task

Logits = Singles


@dataclass(frozen=True)
class Controls:
    """What gates are compared with.

    Attributes:
        importance: Rows of ``head_importance`` of the model.
        settings: Penalties, and how many random sets of as many heads there are.
        seed: Seed of the random sets.
    """

    importance: pd.DataFrame
    settings: LearnedGates
    seed: int


@dataclass(frozen=True)
class Kept:
    """A set of heads, and the logits of a model that has no others.

    Attributes:
        penalty: λ of the gates that closed as many heads.
        chosen_by: Who chose the heads: `LEARNED`, `ABSOLUTE` or `RANDOM`.
        weights: `FINE_TUNED` or `TRAINED_ON`.
        heads: How many are kept.
        logits: [validation examples, outputs].
    """

    penalty: float
    chosen_by: str
    weights: str
    heads: int
    logits: Logits


@dataclass(frozen=True)
class GateResult:
    """What gates have learned.

    Attributes:
        intact: By kind of weights, logits of the model with all heads: as fine-tuned, and trained
            on for as long.
        kept: The sets of heads.
        gates: `HEAD_GATES` without the columns of the model.
    """

    intact: Mapping[str, Logits]
    kept: Sequence[Kept]
    gates: pd.DataFrame


def learn(start: Start, controls: Controls, folder: Path) -> GateResult:
    """Train gates with every penalty, and what they are compared with.

    Args:
        start: The model and its examples.
        controls: What to compare with.
        folder: Where finished trainings are kept, as files ``*.npz``.

    Raises:
        InputError: See `darksecrets.beyond.importance.measure.learning.train_on`.
    """
    control, rng = train_on(start, folder / "all.npz"), np.random.default_rng(controls.seed)
    learned = {
        penalty: train_on(start, folder / f"penalty-{penalty:g}.npz", penalty=penalty)
        for penalty in controls.settings.penalties
    }
    chosen = {penalty: _chosen(each, controls, rng) for penalty, each in learned.items()}
    kept = [
        each
        for penalty, trained in learned.items()
        for each in _trained_on(start, penalty, trained, chosen[penalty], controls, folder)
    ]
    intact, fine_tuned_outputs = _fine_tuned(start, chosen)
    intacts = {declared.FINE_TUNED: intact, declared.TRAINED_ON: control.logits}
    return GateResult(intacts, [*kept, *fine_tuned_outputs], _gates(learned))


def learn_resuming(start: Start, controls: Controls, output: Path) -> GateResult:
    """The same; finished trainings are kept beside the output until that is written from them."""
    importance = controls.importance.to_csv(index=False).encode()
    identity = {
        "task": start.task.name,
        "seed": start.seed,
        **asdict(start.settings),
        "gates": [asdict(controls.settings), controls.seed],
        "importance": hashlib.sha256(importance).hexdigest(),
        "model": fingerprint(start.model),
        "data": [start.train.fingerprint(), start.validation.fingerprint()],
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    with resuming(output, identity, "*.npz") as folder:
        return learn(start, controls, folder)


def _chosen(trained: Trained, controls: Controls, rng: np.random.Generator) -> list[Order]:
    """Sets of removed heads of one size: by the gates, by the absolute gradient, at random."""
    closed = settled(torch.from_numpy(trained.log_a)).numpy() == 0
    mine = [(layer + 1, head + 1) for layer, head in np.argwhere(closed).tolist()]
    rows = controls.importance[controls.importance["mode"] == declared.MODE]
    ordered = ascending(rows, declared.ABSOLUTE, rng.random(trained.log_a.size))
    draws = range(controls.settings.draws)
    drawn = [[ordered[n] for n in rng.permutation(len(ordered))] for _ in draws]
    named = [
        (declared.LEARNED, mine),
        (declared.ABSOLUTE, ordered),
        *((RANDOM, places) for places in drawn),
    ]
    return [Order(name, tuple(places[: len(mine)])) for name, places in named]


def _trained_on(
    start: Start,
    penalty: float,
    trained: Trained,
    chosen: Sequence[Order],
    controls: Controls,
    folder: Path,
) -> Iterator[Kept]:
    """Sets of heads that were trained on: with the gates, and without the heads of the others."""
    left = trained.log_a.size - len(chosen[0].heads)
    yield Kept(penalty, declared.LEARNED, declared.TRAINED_ON, left, trained.logits)
    count = controls.settings.trained
    others = chosen[1 : 2 + count] if count else []
    for number, order in enumerate(others):
        file = folder / f"penalty-{penalty:g}-{number}.npz"
        logits = train_on(start, file, removed=order.first(len(order.heads))).logits
        yield Kept(penalty, order.name, declared.TRAINED_ON, left, logits)


def _fine_tuned(start: Start, chosen: Mapping[float, Sequence[Order]]) -> tuple[Logits, list[Kept]]:
    """Logits of the fine-tuned model with all heads, and with the sets removed from it."""
    model, _ = load_classifier(start.model, start.task, start.seed)
    model = devices.place(model)
    every = [(penalty, order) for penalty, orders in chosen.items() for order in orders]
    removed = [order.first(len(order.heads)) for _, order in every]
    split, total = start.validation, shape_of(model).total
    logits = logits_without(model, split, range(len(split)), removed)
    return logits[0], [
        Kept(penalty, order.name, declared.FINE_TUNED, total - len(order.heads), set_outputs)
        for (penalty, order), set_outputs in zip(every, logits[1:], strict=True)
    ]


def _gates(learned: Mapping[float, Trained]) -> pd.DataFrame:
    """What every gate has become, with every penalty."""
    tables = []
    for penalty, trained in learned.items():
        log_a = torch.from_numpy(trained.log_a)
        layers, heads = (places.ravel() + 1 for places in np.indices(trained.log_a.shape))
        columns = {"layer": layers, "head": heads, "gate": settled(log_a).numpy().ravel()}
        columns |= {"open_probability": open_probability(log_a).numpy().ravel()}
        tables.append(pd.DataFrame(columns).assign(penalty=penalty))
    found = pd.concat(tables, ignore_index=True)
    return declared.HEAD_GATES.select(found)


def learned_gates(
    found: GateResult,
    labels: Values,
    units: Integers,
    task: Task,
    *,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Score every set of heads, against all heads and against as many at random.

    Intervals are percentiles of a bootstrap over examples, the same for all sets; for random sets,
    the sets are drawn, too. Beside random sets, a set is one more draw: see
    `darksecrets.core.stats.draws`.

    Args:
        found: What gates have learned.
        labels: [validation examples].
        units: [validation examples] numbers of their units, see `darksecrets.core.stats.units`.
        task: The task.
        resamples: Number of bootstrap samples.
        seed: Their seed.

    Returns:
        `LEARNED_GATES` without the columns of the model.
    """
    logits = [*found.intact.values(), *(each.logits for each in found.kept)]
    predictions = np.stack([predict(task, each) for each in logits])
    heads = len(found.gates[["layer", "head"]].drop_duplicates())
    about = {"heads": heads, "examples": len(labels)}
    rows: list[dict[str, Any]] = []
    for metric in task.metrics:
        rng = np.random.default_rng(seed)
        scores = score_resampled(metric, predictions, labels, units, resamples, rng)
        chance = score_of_most_frequent(labels, metric, task)
        rows += [
            {**row, **about, "metric": metric, "chance": chance}
            for row in _metric_rows(found, scores, metric, rng)
        ]
    table = pd.DataFrame(rows).assign(share=lambda rows: rows["kept"] / rows["heads"])
    return LEARNED_GATES.select(table)


def _metric_rows(
    found: GateResult, scores: Floats, metric: str, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Rows of one metric, from scores [1 + resamples, sets]; the first are of the intact models."""
    baselines = dict(zip(found.intact, scores.T, strict=False))
    places: dict[tuple[float, str, str], list[int]] = {}
    for number, each in enumerate(found.kept, start=len(baselines)):
        places.setdefault((each.penalty, each.weights, each.chosen_by), []).append(number)
    for (penalty, weights, name), own in places.items():
        score = _mean(scores[:, own], rng)
        delta = np.round(score - baselines[weights], DECIMALS)
        low, high = interval(delta[1:])
        row = {"penalty": penalty, "chosen_by": name, "weights": weights, "draws": len(own)}
        row |= {"kept": found.kept[own[0] - len(baselines)].heads, "score": score[0]}
        row |= {"baseline": baselines[weights][0], "delta": delta[0], "ci_low": low}
        row |= {"ci_high": high}
        drawn = places.get((penalty, weights, RANDOM), [])
        yield row | (
            _excess_over_random(score, scores[:, drawn], metric) if drawn and name != RANDOM else {}
        )


def _mean(scores: Floats, rng: np.random.Generator) -> Floats:
    """[1 + resamples] mean over sets, [1 + resamples, sets], that are drawn, too."""
    return np.vecdot(weights_of_draws(scores.shape[1], len(scores), rng), scores)


def _excess_over_random(score: Floats, drawn: Floats, metric: str) -> dict[str, float]:
    """What a set's score, [1 + resamples], has over random sets, [1 + resamples, draws]."""
    over = np.round(score - drawn.mean(axis=1), DECIMALS)
    half = float(reach_of_one_more(over[1:].var(ddof=1), drawn[0]))
    bounds = (PERCENT * end for end in METRICS[metric].bounds_of_differences)
    low, high = feasible([over[0] - half, over[0] + half], *bounds)
    return {
        "over_random": over[0],
        "over_random_low": low,
        "over_random_high": high,
    }
