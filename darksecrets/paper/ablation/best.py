"""The gain of the best head without selection bias, and a summary of a sweep (section 4.6)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats
from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import PARTS, SweepResult
from darksecrets.core.interventions.scores import require_usable, weighted
from darksecrets.core.stats.selection import best_gain
from darksecrets.paper.ablation.statistics import Resampling, differences_on_halves


def best(result: SweepResult, task: Task, resampling: Resampling) -> pd.DataFrame:
    """Gain of disabling the best head, and the best layer, on held-out examples.

    The best of many deltas is positive even if no head matters. Therefore the validation set is
    split into random halves: the head with the highest score on one half is scored on the other,
    and vice versa. Heads that tie are weighted equally. The mean over halves estimates the mean
    true gain of the heads that the halves chose; `darksecrets.core.stats.selection` derives its
    interval. Half of the examples choose a little worse than all of them would, so the gain is
    conservative.

    Returns:
        A row per metric and kind: ``metric``, ``kind``, ``layer``, ``head`` (the best on the whole
        set; the first if several tie), ``naive_gain`` (its delta there), ``unbiased_gain`` (mean
        over halves), ``ci_low``, ``ci_high``, all x 100, and ``chosen``, the share of the halves
        that chose that head.

    Raises:
        InputError: See `darksecrets.core.interventions.scores.require_usable`.
    """
    require_usable(result, task)
    rows = []
    for metric in task.metrics:
        rng = np.random.default_rng(resampling.seed)
        whole = weighted(result, metric)(np.ones((1, len(result.idx)), dtype=np.int64))
        deltas = (
            whole - whole[:, :1],
            *differences_on_halves(result, metric, resampling.splits, rng),
        )
        for kind in PARTS:
            sets = np.flatnonzero(result.sets["kind"] == kind)
            if len(sets):
                row = _row(*(each[:, sets] for each in deltas))
                place = result.sets.iloc[sets[row.pop("best")]]
                rows.append(
                    {"metric": metric, "kind": kind, **place[["layer", "head"]].to_dict(), **row}
                )
    return pd.DataFrame(rows).astype({"layer": "Int64", "head": "Int64"})


def _row(whole: Floats, ones: Floats, others: Floats) -> dict[str, Any]:
    """Naive and unbiased gain, from deltas [1, sets] and, on both halves, [splits, sets]."""
    gain, winner = best_gain(ones, others), int(whole.argmax())
    return {
        "best": winner,
        "naive_gain": PERCENT * whole[0, winner],
        "unbiased_gain": PERCENT * gain.mean,
        "ci_low": PERCENT * gain.low,
        "ci_high": PERCENT * gain.high,
        "chosen": gain.chosen[winner],
    }


def survival(
    table: pd.DataFrame, means: pd.DataFrame, gains: pd.DataFrame, examples: int
) -> pd.DataFrame:
    """Summarize a sweep per metric and kind.

    Args:
        table: First table that `darksecrets.paper.ablation.statistics.effects` returns.
        means: The second one.
        gains: Table of `best`.
        examples: Size of the validation set.

    Returns:
        A row per metric and kind, head or layer: ``examples``, ``baseline``, ``sets`` (how many),
        then the columns of ``means`` and of ``gains``.
    """
    keys = ["metric", "kind"]
    parts = table[table["kind"].isin(PARTS)].groupby(keys, sort=False, as_index=False)
    rows = parts.agg(baseline=("baseline", "first"), sets=("baseline", "size"))
    return rows.assign(examples=examples).merge(means, on=keys).merge(gains, on=keys)
