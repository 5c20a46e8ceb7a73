"""Does a head's, or a layer's, change in fine-tuning predict what resetting it costs?

Figure 5 shows how much fine-tuning changes the maps of each head. The maps of a layer also change
with everything below it. So the change of a head's own weights is compared with the costs, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.ablation.statistics import Resampling
from darksecrets.arrays import Floats, Integers
from darksecrets.data.metrics import METRICS, PERCENT
from darksecrets.data.tasks import Task
from darksecrets.landscape import tables
from darksecrets.landscape.results import Logits, Reset, losses, predictions
from darksecrets.stats import LEVEL
from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.ranks import Draws, paired_agreement, rank_correlations
from darksecrets.stats.resampling import bootstrap_weights
from darksecrets.stats.seeds import critical_value

RESAMPLES = 1000
"""Bootstrap samples of losses, and of everything over seeds."""
_FEWEST = 4
"""Units, with fewer of which a correlation has no interval."""

Costs = dict[str, tuple[Floats, Floats]]
"""By name of the cost: [seeds, units], and on resamples [resamples, seeds, units]."""


def change_and_cost(
    results: Mapping[int, Reset], maps: Mapping[int, Floats], task: Task, resampling: Resampling
) -> pd.DataFrame:
    """`CHANGE_AND_COST` of one task and state, without ``task`` and ``state``.

    Intervals cover heads, examples and seeds: on Fisher's scale, the variance over heads (Bonett
    and Wright 2000; heads of a layer are alike, so that it is at least that of a jackknife over
    layers), that over examples and that over seeds are added.

    Args:
        results: The results by seed, of the same examples.
        maps: [layers, heads] 1 - cosine of the maps by seed; none for a state without them.
        task: The task.
        resampling: Numbers of permutations, seed; at most `RESAMPLES` samples are drawn.
    """
    rows, on_scale = [], []
    for scope, change, changes, costs, layers in _comparisons(results, maps, task, resampling):
        draws = Draws(layers, 0, resampling.permutations, resampling.seed)
        for cost in tables.COSTS:
            if cost in costs:
                found = paired_agreement(changes, costs[cost][0], draws)
                within = found.p_within if scope == tables.HEADS else np.nan
                rows.append(
                    {"scope": scope, "change": change, "cost": cost, "seeds": len(results)}
                    | {"units": len(layers), "spearman": found.rho, "p_value": found.p}
                    | {"p_within_layers": within}
                )
                on_scale.append(on_fishers_scale(changes, *costs[cost], layers))
    names = [name for name in tables.CHANGE_AND_COST.names if name not in ("task", "state")]
    table = pd.DataFrame(rows)
    ends = np.empty((len(table), 2))
    for _, same in table.groupby("scope"):
        of_scope = [on_scale[row] for row in same.index]
        ends[same.index] = intervals(of_scope, same["change"].nunique())
    table["ci_low"], table["ci_high"] = ends.T
    for p in ("p_value", "p_within_layers"):
        table[f"q{p.removeprefix('p')}"] = benjamini_hochberg(table[p])
    return table[names]


def _comparisons(
    results: Mapping[int, Reset], maps: Mapping[int, Floats], task: Task, resampling: Resampling
) -> Iterator[tuple[str, str, Floats, Costs, Any]]:
    """Scope, change, [seeds, units] changes, costs, and [units] layers."""
    every = list(results.values())
    swaps = every[0].swaps
    alone = np.flatnonzero((swaps["direction"] == tables.RESET) & (swaps["kind"] == tables.LAYER))
    units = {
        tables.HEADS: [
            (r.heads.reshape(-1, *r.finetuned.shape), r.head_changes.ravel()) for r in every
        ],
        tables.LAYERS: [
            (r.swapped[alone], r.swaps["weight_change"].to_numpy(dtype=np.float64)[alone])
            for r in every
        ],
    }
    for scope, of_models in units.items():
        outputs, moved = (list(each) for each in zip(*of_models, strict=True))
        if not outputs[0].size:
            continue
        count = len(outputs[0])
        layers = np.arange(count) // (count // every[0].layers)
        costs = _costs(every, outputs, task, resampling)
        changes = {tables.WEIGHTS: moved}
        if maps:
            of_heads = [maps[seed] for seed in results]
            changes[tables.MAPS] = [
                of.ravel() if scope == tables.HEADS else of.mean(axis=1) for of in of_heads
            ]
        for change, values in changes.items():
            yield scope, change, np.stack(values), costs, layers


def _costs(
    results: list[Reset], outputs: list[Logits], task: Task, resampling: Resampling
) -> Costs:
    """What resetting costs, by all of `COSTS` that the task has."""
    found: dict[str, list[tuple[Floats, Floats]]] = {}
    for result, of_units in zip(results, outputs, strict=True):
        for name, values in _of_seed(result, of_units, task, resampling).items():
            found.setdefault(name, []).append(values)
    return {
        name: (np.stack([one for one, _ in both]), np.stack([drawn for _, drawn in both], axis=1))
        for name, both in found.items()
    }


def _of_seed(
    result: Reset, outputs: Logits, task: Task, resampling: Resampling
) -> dict[str, tuple[Floats, Floats]]:
    """By cost, [units] values, and [resamples, units] on the same resamples for all seeds."""
    every = np.concatenate([result.finetuned[None], outputs])
    predicted, of_loss = predictions(task, every), losses(task, every, result.labels)
    metric = METRICS[task.metrics[0]]
    scores = np.array([metric.plain(one, result.labels) for one in predicted])
    score = metric.weighted(predicted, result.labels)
    sums = {tables.LOSS: of_loss[1:] - of_loss[0]}
    if not task.is_regression:
        sums["flips"] = (predicted[1:] != predicted[0]).astype(np.float64)
    drawn: dict[str, list[Floats]] = {name: [] for name in (*sums, "score")}
    rng, count = np.random.default_rng(resampling.seed), len(result.labels)
    for weights in bootstrap_weights(min(RESAMPLES, resampling.bootstrap), count, rng):
        of_weights = score(weights)
        drawn["score"].append(PERCENT * (of_weights[:, :1] - of_weights[:, 1:]))
        for name, values in sums.items():
            drawn[name].append(weights @ values.T / count)
    means = {name: values.mean(axis=1) for name, values in sums.items()}
    means["score"] = PERCENT * (scores[0] - scores[1:])
    return {name: (means[name], np.concatenate(parts)) for name, parts in drawn.items()}


@dataclass(frozen=True)
class OnScale:
    """A rank correlation on Fisher's scale, and what varies beside seeds.

    Attributes:
        of_seeds: [seeds] correlations.
        of_examples: Variance of their mean over examples.
        of_units: Variance of their mean over heads, or layers; NaN for fewer than `_FEWEST`.
        degrees: Degrees of freedom of ``of_units``.
    """

    of_seeds: Floats
    of_examples: float
    of_units: float
    degrees: float


def on_fishers_scale(changes: Floats, costs: Floats, drawn: Floats, layers: Integers) -> OnScale:
    """Rank correlations of changes and costs, and how they vary.

    Args:
        changes: [seeds, units].
        costs: [seeds, units].
        drawn: [resamples, seeds, units] costs on resampled examples.
        layers: [units] their layers; each its own if units are layers.
    """
    rho = rank_correlations(changes, costs)
    units = changes.shape[1]
    if units < _FEWEST:
        return OnScale(rho, math.nan, math.nan, math.inf)
    of_draws = _fisher(rank_correlations(changes, drawn), units)
    of_units, degrees = (1 + float(np.mean(rho)) ** 2 / 2) / (units - 3), math.inf
    names = np.unique(layers)
    if len(names) < units:
        kept = [layers != name for name in names]
        without = [rank_correlations(changes[:, each], costs[:, each]) for each in kept]
        means = np.mean(_fisher(np.stack(without), units), axis=1)
        of_layers = (len(names) - 1) * float(means.var())
        if of_layers > of_units:
            of_units, degrees = of_layers, len(names) - 1
    return OnScale(_fisher(rho, units), float(of_draws.mean(axis=1).var()), of_units, degrees)


def _fisher(rho: Floats, units: int) -> Floats:
    """Fisher's transformation; that of 1 is infinite, and is put beyond all but perfect orders."""
    most = 1 - 6 / (units * (units**2 - 1))  # between 1 and the next possible correlation
    return np.asarray(np.arctanh(np.clip(rho, -most, most)))


def intervals(rows: Sequence[OnScale], measures: int = 1) -> Floats:
    """[rows, 2] ends of the intervals, NaN where the variance is not known.

    Two or three seeds say little about their spread, so that it is pooled over rows. These are of
    the same models and costs hardly differ, so that only the measures of change count as
    independent.

    Args:
        rows: Of one scope, as the spread of a correlation depends on the number of units.
        measures: Measures of change among them.
    """
    ends = np.full((len(rows), 2), np.nan)
    seeds = len(rows[0].of_seeds)
    pooled = 0.0
    if seeds > 1:
        pooled = float(np.mean([row.of_seeds.var(ddof=1) for row in rows])) / seeds
    free = max(1, measures * (seeds - 1))
    for place, row in enumerate(rows):
        if not math.isnan(row.of_units):
            parts = (row.of_examples, math.inf), (row.of_units, row.degrees), (pooled, free)
            half = critical_value(LEVEL, *parts) * math.sqrt(sum(part for part, _ in parts))
            ends[place] = np.tanh(row.of_seeds.mean() + half * np.array([-1, 1]))
    return ends
