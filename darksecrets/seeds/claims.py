"""Numbers about grids of seeds that claims need and no table has; tasks are those with a grid.

All are of a task's main metric.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from darksecrets.arrays import Floats
from darksecrets.data.metrics import by_first
from darksecrets.seeds.tables import COMPONENTS, INIT, ORDER, RESIDUAL
from darksecrets.stats.independent import ESTIMATE
from darksecrets.stats.two_way import balance

SEVERAL = 4
"""Runs of which the best is taken: as many as the smallest grid has."""
EARLY = 3
"""Early is after one part of so many, at most, of the training."""
_PERMUTATIONS = 2000  # all of them if there are fewer
_TIE = 1e-9


def best_of_several(maxima: pd.DataFrame) -> pd.DataFrame:
    """What the best of four runs, chosen by one half of the examples, gains on the other.

    Args:
        maxima: The table ``expected_maximum``.

    Returns:
        Columns ``on`` (the task); ``value``, with ``low`` and ``high``.
    """
    rows = by_first(maxima[maxima["drawn"] == SEVERAL])
    names = {"gain": "value", "gain_low": "low", "gain_high": "high"}
    return rows.rename(columns=names)[["on", *ESTIMATE]]


def contributions(variances: pd.DataFrame) -> pd.DataFrame:
    """Tests of the effects of initialization and data order.

    Args:
        variances: The table ``seed_variance``.

    Returns:
        Columns ``on``, ``component`` and ``value``, the p-value.
    """
    rows = by_first(variances[variances["component"] != RESIDUAL])
    return rows.rename(columns={"p_value": "value"})[["on", "component", "value"]]


def start_against_order(variances: pd.DataFrame) -> pd.DataFrame:
    """How much more of the variance is of the initialization than of the data order.

    Args:
        variances: The table ``seed_variance``.

    Returns:
        Columns ``on``; ``value``, between −1 and 1, NaN if neither is seen to vary, with ``low``
        and ``high``; see `darksecrets.stats.two_way.balance`.
    """
    rows = []
    for task, of_task in by_first(variances).groupby("on", sort=False):
        variance, degrees = (
            dict(zip(of_task["component"], of_task[name], strict=True))
            for name in ("variance", "degrees")
        )
        init, order, residual = (float(variance[name]) for name in COMPONENTS)
        shape = int(degrees[INIT]) + 1, int(degrees[ORDER]) + 1
        rows.append((task, *balance(init, order, residual, shape)))
    return pd.DataFrame(rows, columns=["on", *ESTIMATE])


def shared_starts(grid: pd.DataFrame) -> pd.DataFrame:
    """Whether the same initializations are good on all tasks: a permutation test.

    Of each task, the mean scores of the initializations are standardised; the statistic is the
    variance over initializations of their sums over tasks. They are permuted within each task.

    Args:
        grid: The table ``seed_grid``.

    Returns:
        One row with the column ``value``, the p-value; none if fewer than two tasks have
        initializations in common whose scores differ.
    """
    rows = by_first(grid)
    final = rows[rows["epoch"] == rows.groupby("on")["epoch"].transform("max")]
    means = final.pivot_table(index="init_seed", columns="on", values="score").dropna()
    means = means.loc[:, (np.ptp(means.to_numpy(), axis=0) > 0) if len(means) else []]
    starts, tasks = means.shape
    if min(starts, tasks) < 2:
        return pd.DataFrame({"value": pd.Series(dtype=np.float64)})
    values: Floats = means.to_numpy(dtype=np.float64)
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    drawn = np.array([_agreement(each) for each in _permuted(values)])
    p = float((drawn >= _agreement(values) - _TIE).mean())
    return pd.DataFrame({"value": [p]})


def told_early(stopping: pd.DataFrame) -> pd.DataFrame:
    """Tests whether scores after a third of the training, or before, predict those at its end.

    Args:
        stopping: The table ``early_stopping``.

    Returns:
        Columns ``on`` and ``value``, the p-value at the last epoch in the first third. Trainings of
        fewer than three epochs have no rows.
    """
    rows = by_first(stopping)
    # the table leaves out the last epoch
    third = (rows.groupby("on")["epoch"].transform("max") + 1) // EARLY
    return rows[rows["epoch"] == third].rename(columns={"p_value": "value"})[["on", "value"]]


def _agreement(values: Floats) -> float:
    return float((values.sum(axis=1) ** 2).mean())


def _permuted(values: Floats) -> Iterator[Floats]:
    """[initializations, tasks], these permuted in all tasks but the first; unpermuted included."""
    starts, tasks = values.shape
    if math.factorial(starts) ** (tasks - 1) <= _PERMUTATIONS:
        orders = list(itertools.permutations(range(starts)))
        for chosen in itertools.product(orders, repeat=tasks - 1):
            moved = [values[list(order), task] for task, order in enumerate(chosen, start=1)]
            yield np.column_stack([values[:, 0], *moved])
        return
    rng = np.random.default_rng(0)
    yield values
    for _ in range(_PERMUTATIONS - 1):
        yield rng.permuted(values, axis=0)
