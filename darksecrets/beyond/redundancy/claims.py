"""Numbers about types and distances of heads that claims need: means over the tasks of the run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from darksecrets.beyond.redundancy.tables import BROAD_FOR_LENGTH, SAME_LAYER
from darksecrets.core.run.columns import RANDOM
from darksecrets.core.stats.independent import ESTIMATE, means_of_independent, minus, named

_MODEL = ["state", "seed"]


def same_layer(redundancy: pd.DataFrame) -> pd.DataFrame:
    """How much nearer heads of one layer are to each other than heads at random.

    Args:
        redundancy: The table ``redundancy``.

    Returns:
        Columns ``state``, ``seed``; ``value``, with ``low`` and ``high``.
    """
    return means_of_independent(_same_layer(redundancy), _MODEL)


def same_layer_over_random(redundancy: pd.DataFrame) -> pd.DataFrame:
    """The same, minus that of the encoder with random weights.

    Args:
        redundancy: The table ``redundancy``.

    Returns:
        As `same_layer`. Both are of the same examples: half-widths add up, which is valid for any
        dependence.
    """
    rows = _same_layer(redundancy)
    is_random = rows["state"] == RANDOM
    return means_of_independent(minus(rows[~is_random], rows[is_random], ["task"]), _MODEL)


def same_layer_p(redundancy: pd.DataFrame) -> pd.DataFrame:
    """The p-value of heads of one layer being near in every task: the largest.

    Args:
        redundancy: The table ``redundancy``.

    Returns:
        Columns ``state``, ``seed``, ``value``.
    """
    rows = redundancy[redundancy["pairs"] == SAME_LAYER].rename(columns={"p_value": "value"})
    largest = rows.groupby(_MODEL, sort=False, dropna=False)["value"].agg(np.max)
    return largest.reset_index()


def types_over_random(counts: pd.DataFrame) -> pd.DataFrame:
    """How many more heads are of a type than in the encoder with random weights.

    Args:
        counts: The table ``head_type_counts``.

    Returns:
        Columns ``state``, ``seed``, ``type``, and as `same_layer_over_random`.
    """
    rows = _counted(counts[counts["layer"].isna()])
    is_random = rows["state"] == RANDOM
    found = minus(rows[~is_random], rows[is_random], ["task", "type"])
    return means_of_independent(found, [*_MODEL, "type"])


def broad_in_lower_layers(counts: pd.DataFrame) -> pd.DataFrame:
    """How many more heads of the lower half of the layers are broad than of the upper half.

    Args:
        counts: The table ``head_type_counts``.

    Returns:
        As `same_layer`; half-widths of the layers add up. No rows for encoders of one layer.
    """
    rows = _counted(counts[counts["layer"].notna() & (counts["type"] == BROAD_FOR_LENGTH)])
    last = rows["layer"].max()
    halves = [rows[rows["layer"] <= last // 2], rows[rows["layer"] > last - last // 2]]
    key = ["task", *_MODEL]
    lower, upper = (half.groupby(key, sort=False, dropna=False)[ESTIMATE].sum() for half in halves)
    found = lower - upper.rename(columns={"low": "high", "high": "low"})[ESTIMATE]
    return means_of_independent(found.reset_index(), _MODEL)


def _same_layer(redundancy: pd.DataFrame) -> pd.DataFrame:
    return named(redundancy[redundancy["pairs"] == SAME_LAYER], "difference")


def _counted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.rename(columns={"heads": "value", "ci_low": "low", "ci_high": "high"})
