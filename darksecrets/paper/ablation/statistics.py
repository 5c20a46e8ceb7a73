"""Effects of disabling heads and layers on the scores, with intervals and tests (section 4.6).

The paper reports only the scores. Here, every difference to the intact model has an interval and a
test on the same examples, because the best of 144 heads gains a few examples by chance alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from darksecrets.core.arrays import Floats
from darksecrets.core.data.metrics import METRICS, PERCENT
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.scores import plain, require_usable, weighted
from darksecrets.core.stats import permutation
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.correlation import drop_rounding, standardized
from darksecrets.core.stats.resampling import halves_of_units, interval, widened
from darksecrets.core.stats.units import count_units
from darksecrets.core.stats.weighted import resampled

_COLUMNS = ("metric", "baseline", "score", "delta", "ci_low", "ci_high", "p_value", "q_value")
_OVER_LAYER = ("over_layer", "over_layer_low", "over_layer_high")
PLACES = {"head": ["layer", "head"], "layer": ["layer"], "set": ["name"]}
"""Columns that say what was disabled, by the kind of set; layers and heads count from 1."""


@dataclass(frozen=True)
class Resampling:
    """How many random samples the statistics of a sweep draw, and their seed.

    Attributes:
        bootstrap: Bootstrap samples of the examples.
        permutations: Random permutations, for tests that have no exact sum.
        splits: Random halves of the validation set.
        seed: Seed of all of them.
    """

    bootstrap: int
    permutations: int
    splits: int
    seed: int


def effects(
    result: SweepResult, task: Task, resampling: Resampling
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Effect of every disabled set on every metric of the task, and the mean effect per kind.

    Intervals are percentiles of a bootstrap over examples, with the same resamples for all sets.
    The test is paired, see `darksecrets.core.stats.permutation`. p-values are corrected with the
    Benjamini-Hochberg procedure over the sets of a kind: the heads of the model, and its layers.

    Args:
        result: A sweep.
        task: The task it was made for.
        resampling: Numbers of samples, seed.

    Returns:
        Two tables. First, a row per set and metric: ``kind``, ``layer``, ``head``, ``name``,
        ``metric``, ``baseline``, ``score``, ``delta`` (score - baseline), ``ci_low`` and
        ``ci_high`` of the delta, ``over_layer`` (of a head: delta minus the mean delta of the other
        heads of its layer) with its interval, all x 100, ``p_value`` and ``q_value``; the baseline
        has no row.
        Second, a row per metric and kind: ``mean_effect``, the mean delta over the kind, and its
        ``mean_low`` and ``mean_high``.

    Raises:
        InputError: See `darksecrets.core.interventions.scores.require_usable`.
    """
    require_usable(result, task)
    tables, means = [], []
    for metric, scores in plain(result, task).items():
        rng = np.random.default_rng(resampling.seed)
        resampled = bootstrap(result, metric, resampling.bootstrap, rng)
        low, high = interval(resampled)
        over_layer = PERCENT * _compare_with_layer(result.sets, scores - scores[0], resampled)
        table = result.sets.reset_index(drop=True).assign(
            metric=metric,
            baseline=PERCENT * scores[0],
            score=PERCENT * scores,
            delta=PERCENT * (scores - scores[0]),
            ci_low=PERCENT * low,
            ci_high=PERCENT * high,
            p_value=p_values(result, metric, resampling.permutations, rng),
            **dict(zip(_OVER_LAYER, over_layer, strict=True)),
        )[1:]
        table["q_value"] = table.groupby("kind")["p_value"].transform(benjamini_hochberg)
        tables.append(table)
        units = count_units(result.units)
        means += [_mean(rows, resampled, units) for _, rows in table.groupby("kind")]
    return pd.concat(tables, ignore_index=True), pd.DataFrame(means)


def _compare_with_layer(sets: pd.DataFrame, delta: Floats, resampled: Floats) -> Floats:
    """What each head does beyond the other heads of its layer.

    Args:
        sets: What was disabled.
        delta: [sets] differences to the baseline.
        resampled: [resamples, sets] the same of bootstrap samples.

    Returns:
        [3, sets] differences to the mean of the others, and the ends of their intervals; NaN for
        what is no head, or the only one of its layer.
    """
    found = np.full((3, len(sets)), np.nan)
    heads = sets.reset_index(drop=True)[lambda table: table["kind"] == "head"]
    for _, rows in heads.groupby("layer"):
        own = rows.index.to_numpy()
        if len(own) > 1:
            values = np.concatenate([delta[None, own], resampled[:, own]])
            others = (values.sum(axis=1, keepdims=True) - values) / (len(own) - 1)
            beyond = values - others
            found[0, own], found[1:, own] = beyond[0], interval(beyond[1:])
    return found


def effects_of_heads(result: SweepResult, task: Task) -> pd.DataFrame:
    """Effect of every disabled head on the task's first metric: ``layer``, ``head``, ``delta``."""
    require_usable(result, task)
    scores = plain(result, task)[task.metrics[0]]
    table = result.sets.reset_index(drop=True).assign(delta=PERCENT * (scores - scores[0]))
    return table.loc[table["kind"] == "head", [*PLACES["head"], "delta"]]


def p_values(
    result: SweepResult, metric: str, permutations: int, rng: np.random.Generator
) -> Floats:
    """Test every set against the intact model on the same examples, of each unit the first.

    Args:
        result: A sweep.
        metric: The score to compare.
        permutations: Number of random permutations, for tests that are not exact.
        rng: Source of randomness, for tests that are not exact.

    Returns:
        [sets] p-values; the baseline's is 1.
    """
    result = result.once()
    if metric == "accuracy":
        return permutation.mcnemar(result.predictions == result.labels)
    if metric == "f1":
        positive, gold = result.predictions == 1, result.labels == 1
        return np.array([permutation.f1_permutation(positive[0], row, gold) for row in positive])
    if score := METRICS[metric].counted:
        classes, gold = result.predictions.astype(np.int64), result.labels.astype(np.int64)
        return permutation.classes_permutation(classes, gold, score, permutations, rng)
    predictions, labels = drop_rounding(result.predictions), result.labels.astype(np.float64)
    if metric == "r2":
        errors = (result.predictions.astype(np.float64) - labels) ** 2
        return permutation.sign_permutation(errors - errors[0], permutations, rng)
    if metric == "spearman":
        predictions, labels = rankdata(predictions, axis=-1), rankdata(labels)
    predictions, labels = standardized(predictions), standardized(labels)
    return permutation.correlation_permutation(predictions, labels, permutations, rng)


def _mean(rows: pd.DataFrame, resampled: Floats, units: int) -> dict[str, Any]:
    """Mean delta of the sets of one kind: the expected effect of disabling a random one."""
    mean = rows["delta"].mean()
    ends = PERCENT * interval(resampled[:, rows.index].mean(axis=1))
    low, high = widened(ends, np.array(mean), np.array(units))
    where = {column: rows[column].iloc[0] for column in ("metric", "kind")}
    return {**where, "mean_effect": mean, "mean_low": low, "mean_high": high}


def kind_rows(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The rows of one kind of set, `head`, `layer` or `set`, with the columns of its contract."""
    more = _OVER_LAYER if kind == "head" else ()
    return table.loc[table["kind"] == kind, [*PLACES[kind], *_COLUMNS, *more]]


def bootstrap(result: SweepResult, metric: str, resamples: int, rng: np.random.Generator) -> Floats:
    """Differences to the baseline on resamples of the examples.

    Args:
        result: A sweep.
        metric: Which score.
        resamples: How many.
        rng: Source of randomness.

    Returns:
        [resamples, sets] score - baseline; all sets on the same resamples.
    """
    score = weighted(result, metric)
    scores = resampled(score, result.units, resamples, rng)
    return scores - scores[:, :1]


def differences_on_halves(
    result: SweepResult, metric: str, splits: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Differences to the baseline on random halves of the examples, and on the other halves.

    Args:
        result: A sweep.
        metric: Which score.
        splits: How many pairs of halves.
        rng: Source of randomness.

    Returns:
        Twice [splits, sets] score - baseline.
    """
    score = weighted(result, metric)
    masks = list(halves_of_units(splits, result.units, rng))
    ones, others = (np.concatenate([score(m == side) for m in masks]) for side in (1, 0))
    return ones - ones[:, :1], others - others[:, :1]
