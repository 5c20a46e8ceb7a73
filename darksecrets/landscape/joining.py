"""Does a head's, or a layer's, change in fine-tuning predict what restoring it costs?

Figure 5 shows how much fine-tuning changes the maps of each head. The maps of a layer also change
with everything below it. So the change of a head's own weights is compared with the costs, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.ablation.statistics import Resampling
from darksecrets.data.metrics import METRICS, PERCENT
from darksecrets.data.tasks import Task
from darksecrets.landscape.results import Floats, Logits, Restored, losses, predictions
from darksecrets.landscape.statistics import RESAMPLES
from darksecrets.landscape.tables import (
    CHANGE_AND_COST,
    COSTS,
    HEADS,
    LAYER,
    LAYERS,
    LOSS,
    MAPS,
    RESTORED,
    WEIGHTS,
)
from darksecrets.stats import LEVEL
from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.ranks import Draws, paired_agreement, rank_correlations
from darksecrets.stats.resampling import bootstrap_weights
from darksecrets.stats.seeds import critical_value

_FEWEST = 4
"""Units, with fewer of which a correlation has no interval."""

Costs = dict[str, tuple[Floats, Floats]]
"""By name of the cost: [seeds, units], and on resamples [resamples, seeds, units]."""


def change_and_cost(
    results: Mapping[int, Restored],
    maps: Mapping[int, Floats],
    task: Task,
    resampling: Resampling,
) -> pd.DataFrame:
    """`CHANGE_AND_COST` of one task and state, without ``task`` and ``state``.

    Intervals cover heads, examples and seeds: on Fisher's scale, the variance over heads (Bonett
    and Wright 2000), that over examples and that over seeds are added; see `_ends`.

    Args:
        results: The results by seed, of the same examples.
        maps: [layers, heads] 1 - cosine of the maps by seed; none for a state without them.
        task: The task.
        resampling: Numbers of permutations, seed; at most `RESAMPLES` samples are drawn.
    """
    rows, on_scale = [], []
    for scope, change, changes, costs, layers in _comparisons(results, maps, task, resampling):
        draws = Draws(layers, 0, resampling.permutations, resampling.seed)
        for cost in COSTS:
            if cost in costs:
                about = {"scope": scope, "change": change, "cost": cost, "seeds": len(results)}
                found = _compared(changes, costs[cost][0], draws, within=scope == HEADS)
                rows.append({**about, "units": len(layers), **found})
                on_scale.append(_on_scale(changes, *costs[cost]))
    names = [name for name in CHANGE_AND_COST.names if name not in ("task", "state")]
    table = pd.DataFrame(rows)
    table["ci_low"], table["ci_high"] = _ends(on_scale)
    for p in ("p_value", "p_within_layers"):
        known = table[p].dropna()
        table[f"q{p.removeprefix('p')}"] = pd.Series(benjamini_hochberg(known), known.index)
    return table[names]


def _comparisons(
    results: Mapping[int, Restored], maps: Mapping[int, Floats], task: Task, resampling: Resampling
) -> Iterator[tuple[str, str, Floats, Costs, Any]]:
    """Scope, change, [seeds, units] changes, costs, and [units] layers."""
    every = list(results.values())
    for scope in (HEADS, LAYERS):
        outputs = [_restored(result, scope) for result in every]
        if not outputs[0].size:
            continue
        count = len(outputs[0])
        layers = np.arange(count) // (count // every[0].layers)
        costs = _costs(every, outputs, task, resampling)
        changes = {WEIGHTS: [_weights(result, scope) for result in every]}
        if maps:
            of_heads = [maps[seed] for seed in results]
            changes[MAPS] = [of.ravel() if scope == HEADS else of.mean(axis=1) for of in of_heads]
        for change, values in changes.items():
            yield scope, change, np.stack(values), costs, layers


def _restored(result: Restored, scope: str) -> Logits:
    """[units, examples, outputs] with each head, or layer, restored alone."""
    if scope == HEADS:
        return result.heads.reshape(-1, *result.finetuned.shape)
    found: Logits = result.swapped[_alone(result)]
    return found


def _weights(result: Restored, scope: str) -> Floats:
    """[units] how far their weights have moved."""
    if scope == HEADS:
        return result.head_changes.ravel()
    changes: Floats = result.swaps["weight_change"].to_numpy(dtype=np.float64)[_alone(result)]
    return changes


def _alone(result: Restored) -> Any:  # noqa: ANN401 - an index array
    swaps = result.swaps
    return np.flatnonzero((swaps["direction"] == RESTORED) & (swaps["kind"] == LAYER))


def _costs(
    results: list[Restored], outputs: list[Logits], task: Task, resampling: Resampling
) -> Costs:
    """What restoring costs, by all of `COSTS` that the task has."""
    found: dict[str, list[tuple[Floats, Floats]]] = {}
    for result, of_units in zip(results, outputs, strict=True):
        for name, values in _of_seed(result, of_units, task, resampling).items():
            found.setdefault(name, []).append(values)
    return {
        name: (np.stack([one for one, _ in both]), np.stack([drawn for _, drawn in both], axis=1))
        for name, both in found.items()
    }


def _of_seed(
    result: Restored, outputs: Logits, task: Task, resampling: Resampling
) -> dict[str, tuple[Floats, Floats]]:
    """By cost, [units] values, and [resamples, units] on the same resamples for all seeds."""
    every = np.concatenate([result.finetuned[None], outputs])
    predicted, of_loss = predictions(task, every), losses(task, every, result.labels)
    metric = METRICS[task.metrics[0]]
    scores = np.array([metric.plain(one, result.labels) for one in predicted])
    score = metric.weighted(predicted, result.labels)
    sums = {LOSS: of_loss[1:] - of_loss[0]}
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


def _compared(changes: Floats, costs: Floats, draws: Draws, *, within: bool) -> dict[str, float]:
    """A rank correlation with its tests, from [seeds, units] twice."""
    found = paired_agreement(changes, costs, draws)
    p_within = found.p_within if within else np.nan
    return {"spearman": found.rho, "p_value": found.p, "p_within_layers": p_within}


def _on_scale(changes: Floats, costs: Floats, drawn: Floats) -> tuple[Floats, float]:
    """[seeds] correlations on Fisher's scale, and the variance of their mean that seeds leave out.

    It is that over units and that over examples; NaN for fewer than `_FEWEST` units.
    """
    rho, of_draws = (rank_correlations(changes, of) for of in (costs, drawn))
    units = changes.shape[1]
    if units < _FEWEST:
        return rho, np.nan
    # Fisher's transformation of 1 is infinite; this is between 1 and the greatest correlation of
    # two different orders.
    most = 1 - 6 / (units * (units**2 - 1))
    scaled, of_draws = (np.arctanh(np.clip(of, -most, most)) for of in (rho, of_draws))
    of_units = (1 + float(np.mean(rho)) ** 2 / 2) / (units - 3)
    return scaled, of_units + float(of_draws.mean(axis=1).var())


def _ends(on_scale: list[tuple[Floats, float]]) -> tuple[Floats, Floats]:
    """Ends of the intervals of all rows, NaN where the variance is not known.

    Two or three seeds say little about their spread, so that it is pooled over the rows.
    """
    scaled, fixed = (np.array(part) for part in zip(*on_scale, strict=True))
    ends, known = np.full((2, len(fixed)), np.nan), ~np.isnan(fixed)
    seeds, free = scaled.shape[1], known.sum() * (scaled.shape[1] - 1)
    pooled = float(scaled[known].var(axis=1, ddof=1).mean()) / seeds if free else 0.0
    for row in np.flatnonzero(known):
        critical = critical_value(LEVEL, (fixed[row], np.inf), (pooled, free))
        half = critical * np.sqrt(fixed[row] + pooled)
        ends[:, row] = np.tanh(scaled[row].mean() + half * np.array([-1, 1]))
    return ends[0], ends[1]
