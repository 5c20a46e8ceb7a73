"""Numbers about compressed models that claims need; tasks are those of the run, scores the first.

Every function takes the table ``compression`` and returns columns ``on`` (the task), ``state``,
``seed``, ``method``, ``amount``; ``value``, with ``low`` and ``high``.
"""

from __future__ import annotations

import pandas as pd

from darksecrets.core.data.metrics import by_first
from darksecrets.core.stats.independent import ESTIMATE


def retention(table: pd.DataFrame) -> pd.DataFrame:
    """Percent of the whole model's score that is retained."""
    return _of(table, "retention", "retention_low", "retention_high")


def change(table: pd.DataFrame) -> pd.DataFrame:
    """Points of the score that are gained."""
    return _of(table, "delta", "ci_low", "ci_high")


def smaller(table: pd.DataFrame) -> pd.DataFrame:
    """The factor by which the weights are smaller, which has no uncertainty."""
    return _of(table, "smaller", "smaller", "smaller")


def _of(table: pd.DataFrame, value: str, low: str, high: str) -> pd.DataFrame:
    """The first metric of every task, with a number and the ends of its interval."""
    rows = by_first(table)
    rows = rows.assign(value=rows[value], low=rows[low], high=rows[high])
    return rows[["on", "state", "seed", "method", "amount", *ESTIMATE]]
