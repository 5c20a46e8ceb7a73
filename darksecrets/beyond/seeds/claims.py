"""Numbers about grids of seeds that claims need and no table has; tasks are those with a grid.

All are of a task's main metric.
"""

from __future__ import annotations

import pandas as pd

from darksecrets.beyond.seeds.tables import RESIDUAL
from darksecrets.core.data.metrics import by_first
from darksecrets.core.stats.independent import ESTIMATE

SEVERAL = 4
"""Runs of which the best is taken: as many as the smallest grid has."""
EARLY = 3
"""Early is after one part of so many, at most, of the training."""


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
