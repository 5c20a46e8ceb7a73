"""Means of estimates that do not depend on each other, such as those of several tasks.

In tables, an estimate is in the columns ``value``, and ``low`` and ``high``, the ends of its
interval.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

ESTIMATE = ["value", "low", "high"]


def mean_of_independent(
    values: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike
) -> tuple[float, float, float]:
    """The mean of independent estimates, with its interval: the squares of half-widths add up.

    Args:
        values: [estimates].
        low: [estimates] lower ends of their intervals.
        high: [estimates] upper ends.

    Returns:
        The mean, and both ends.
    """
    every, lower, upper = (np.asarray(each, dtype=np.float64) for each in (values, low, high))
    mean = float(every.mean())
    below, above = (
        float(np.sqrt((distance**2).sum()) / every.size)
        for distance in (every - lower, upper - every)
    )
    return mean, mean - below, mean + above


def means_of_independent(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The means of the rows of every group, which do not depend on each other.

    Args:
        rows: Estimates, and columns that say what they are of.
        by: The columns whose values make a group.

    Returns:
        Columns ``by``, ``value``, ``low`` and ``high``.
    """
    found = [
        (*key, *mean_of_independent(*(part[name] for name in ESTIMATE)))
        for key, part in rows.groupby(list(by), sort=False, dropna=False)
    ]
    return pd.DataFrame(found, columns=[*by, *ESTIMATE])


def minus(rows: pd.DataFrame, control: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
    """Rows minus the control of the same key; half-widths add up, for any dependence.

    Args:
        rows: Estimates.
        control: Likewise.
        on: The columns of the key.
    """
    swapped = control.rename(columns={"low": "high", "high": "low"})
    both = rows.merge(swapped, on=list(on), suffixes=("", "_control"))
    return both.assign(**{name: both[name] - both[f"{name}_control"] for name in ESTIMATE})


def blanked(rows: pd.DataFrame, unknown: pd.Series[bool]) -> pd.DataFrame:
    """Rows without the estimates of some of them, which would say nothing.

    Args:
        rows: Estimates.
        unknown: Which of the rows have none.
    """
    found = rows.copy()
    found.loc[unknown, ESTIMATE] = np.nan
    return found


def named(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows with a column and its interval, such as ``x``, ``x_low``, ``x_high``, as an estimate."""
    return rows.rename(columns={column: "value", f"{column}_low": "low", f"{column}_high": "high"})
