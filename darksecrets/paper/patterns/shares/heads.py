"""Patterns of every head, and whether heads keep theirs: on other tasks, and with other seeds.

Sections 4.1 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats
from darksecrets.core.stats.agreement import cohens_kappa
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.paired import nanmean
from darksecrets.core.stats.ranks import Draws, Indices
from darksecrets.core.stats.resampling import interval, interval_of_known
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.tables import OF_SEEDS, OF_TASKS, PATTERN_AGREEMENT

PERMUTATIONS = 999
"""Random permutations of the heads."""

_TIE = 1e-9  # rounding of a mean of probabilities


def shares_by_head(maps: pd.DataFrame) -> pd.DataFrame:
    """Shares of the patterns in the maps of every head, over all examples.

    Args:
        maps: Columns ``layer``, ``head``, ``pattern``, a row per map.

    Returns:
        A row per head and class: ``layer``, ``head``, ``pattern``, ``share``.
    """
    counts = pd.crosstab([maps["layer"], maps["head"]], maps["pattern"])
    counts = counts.reindex(columns=list(PATTERNS), fill_value=0)
    shares = counts.div(counts.sum(axis=1), axis=0).reset_index()
    tidy = shares.melt(["layer", "head"], list(PATTERNS), "pattern", "share")
    return tidy.sort_values(["layer", "head"], kind="stable", ignore_index=True)


@dataclass(frozen=True)
class Unit:
    """What is compared: a task with the models of all seeds, or the model of one seed.

    Attributes:
        number: Units with the same number have their heads permuted alike.
        models: [models, heads, patterns] share of each pattern among a head's maps.
    """

    number: int
    models: Floats

    @property
    def shares(self) -> Floats:
        """[heads, patterns] mean over the models."""
        return np.asarray(self.models.mean(axis=0))


@dataclass(frozen=True)
class Samples:
    """Random samples of the heads, shared by all comparisons in one state.

    Attributes:
        layers: [heads] the layer of each.
        weights: [1 + resamples, heads] how often each head is counted; first, once.
        permuted: For each number of a unit, [permutations, heads] the heads in random order within
            their layers.
    """

    layers: Indices
    weights: Floats
    permuted: Sequence[Indices]

    @classmethod
    def draw(cls, draws: Draws, units: int) -> Samples:
        """Draw samples for as many units."""
        heads = len(draws.layers)
        drawn = draws.resampled() + heads * np.arange(draws.bootstrap)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(-1, heads)
        return cls(
            draws.layers,
            np.concatenate([np.ones((1, heads)), counts]),
            [draws.permuted(stream=number) for number in range(units)],
        )


Pair = tuple[Unit, Unit]
Models = Mapping[str, Mapping[Any, Floats]]
"""By task and seed, [heads, patterns] shares."""


def pattern_agreement(
    heads: pd.DataFrame, resamples: int, seed: int, permutations: int = PERMUTATIONS
) -> pd.DataFrame:
    """Compare the patterns of the same heads in models of different tasks, or of different seeds.

    Intervals are bootstrap percentiles over heads. Tests permute the heads of each task together in
    all of its seeds; where seeds are compared, those of each seed together on all tasks.

    Args:
        heads: Shares of the patterns in the maps of every head, the table `pattern_heads`.
        resamples: Number of resamples for the intervals.
        seed: Seed of resamples and permutations.
        permutations: Number of permutations.

    Returns:
        The table `pattern_agreement`: for each state, pairs of tasks and their mean, and tasks with
        several seeds and their mean; no rows if there is nothing to compare.
    """
    parts = []
    for state, state_rows in heads.groupby("state", sort=False):
        models, layers = _models(state_rows)
        units = max(len(models), len(_every_seed(models)))
        samples = Samples.draw(Draws(layers, resamples, permutations, seed), units)
        for compared, pairs in ((OF_TASKS, _task_pairs(models)), (OF_SEEDS, _seed_pairs(models))):
            parts.append(_compared(pairs, samples).assign(state=state, compared=compared))
            parts[-1]["seeds"] = _seeds(models, parts[-1]) if state != "pretrained" else pd.NA
    table = pd.concat(parts, ignore_index=True).reindex(columns=[*PATTERN_AGREEMENT.names])
    return table.astype({"seeds": "Int64"})


def _models(heads: pd.DataFrame) -> tuple[Models, Indices]:
    """The shares of all models in a state, and [heads] their layers."""
    models: dict[str, dict[Any, Floats]] = {}
    layers = np.empty(0, dtype=np.int64)
    for (task, seed), rows in heads.groupby(["task", "seed"], sort=False, dropna=False):
        shares = rows.pivot_table(index=["layer", "head"], columns="pattern", values="share")
        shares = shares.sort_index().reindex(columns=list(PATTERNS)).fillna(0)
        layers = shares.index.get_level_values("layer").to_numpy(np.int64)
        models.setdefault(str(task), {})[seed] = shares.to_numpy(np.float64)
    return models, layers


def _task_pairs(models: Models) -> dict[tuple[str, str], list[Pair]]:
    """All pairs of tasks."""
    units = {
        task: Unit(number, np.stack(list(seeds.values())))
        for number, (task, seeds) in enumerate(models.items())
    }
    return {(a, b): [(units[a], units[b])] for a, b in combinations(units, 2)}


def _seed_pairs(models: Models) -> dict[tuple[str, str], list[Pair]]:
    """All pairs of seeds of each task that has several."""
    every = _every_seed(models)
    pairs = {}
    for task, seeds in models.items():
        units = [Unit(every.index(seed), shares[None]) for seed, shares in seeds.items()]
        pairs[task, task] = list(combinations(units, 2))
    return {names: some for names, some in pairs.items() if some}


def _every_seed(models: Models) -> list[Any]:
    """The seeds of all tasks, each once; tasks may have others than the first."""
    return list(dict.fromkeys(seed for seeds in models.values() for seed in seeds))


def _compared(
    comparisons: Mapping[tuple[str, str], Sequence[Pair]], samples: Samples
) -> pd.DataFrame:
    """A row per comparison, and, last, their mean."""
    rows = [
        {"task": task, "other_task": other, **_agreement(pairs, samples)}
        for (task, other), pairs in comparisons.items()
    ]
    table = pd.DataFrame(rows)
    if not rows:
        return table
    table["q_value"] = benjamini_hochberg(table["p_value"].to_numpy())
    mean = _agreement([pair for pairs in comparisons.values() for pair in pairs], samples)
    return pd.concat([table, pd.DataFrame([{"task": "", "other_task": "", **mean}])])


def _seeds(models: Models, table: pd.DataFrame) -> list[int]:
    """The fewest seeds of the tasks of each row."""
    rows = list(zip(table.get("task", []), table.get("other_task", []), strict=True))
    every = {task for names in rows for task in names if task}
    return [min(len(models[task]) for task in (every if "" in names else names)) for names in rows]


def _agreement(pairs: Sequence[Pair], samples: Samples) -> dict[str, Any]:
    """Mean agreement over pairs, with its interval and tests.

    The probability that two maps have the same pattern is bilinear in their shares, so that means
    over seeds can be compared instead of all pairs of models.
    """
    products = [one.shares @ other.shares.T for one, other in pairs]  # [head, other head]
    mean = np.mean(products, axis=0)
    same_layer = samples.layers[:, None] == samples.layers
    heads = len(mean)
    resampled = samples.weights @ np.diagonal(mean) / heads
    agreement, kappas = resampled[0], _mean_kappas(pairs, samples.weights)
    return {
        "pairs": sum(len(one.models) * len(other.models) for one, other in pairs),
        "heads": heads,
        "agreement": agreement,
        **_ends("ci", interval(resampled[1:])),
        "expected": ((mean * same_layer).sum(axis=1) / same_layer.sum(axis=1)).mean(),
        "p_value": _p_value(agreement, _permuted(pairs, products, samples.permuted)),
        "kappa": kappas[0],
        **_ends("kappa", interval_of_known(kappas[1:])),
    }


def _ends(name: str, ends: Floats) -> dict[str, float]:
    return {f"{name}_low": float(ends[0]), f"{name}_high": float(ends[1])}


def _p_value(agreement: float, permuted: Floats) -> float:
    extreme = int((permuted >= agreement - _TIE).sum())
    return (1 + extreme) / (1 + len(permuted))


def _permuted(
    pairs: Sequence[Pair], products: Sequence[Floats], orders: Sequence[Indices]
) -> Floats:
    """[permutations] mean agreement over pairs with permuted heads."""
    drawn = [
        each[orders[one.number], orders[other.number]].mean(axis=1)
        for (one, other), each in zip(pairs, products, strict=True)
    ]
    return np.asarray(np.mean(drawn, axis=0))


def _mean_kappas(pairs: Sequence[Pair], weights: Floats) -> Floats:
    """[samples] Cohen's kappa of the heads' most frequent patterns, mean over pairs of models.

    Args:
        pairs: What is compared.
        weights: [samples, heads] how often each head is counted.
    """
    models = [pair for one, other in pairs for pair in product(one.models, other.models)]
    kappas = np.stack([_kappas(first, second, weights) for first, second in models])
    return nanmean(kappas, axis=0)


def _kappas(first: Floats, second: Floats, weights: Floats) -> Floats:
    """[samples] kappa of two models, each [heads, patterns]; NaN if all heads have one pattern."""
    classes = first.shape[1]
    both = np.eye(classes**2)[classes * first.argmax(axis=1) + second.argmax(axis=1)]
    tables = np.rint(weights @ both).astype(np.int64).reshape(-1, classes, classes)
    return cohens_kappa(tables)
