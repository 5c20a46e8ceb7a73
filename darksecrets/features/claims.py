"""Numbers about types and distances of heads that claims need: means over the tasks of the run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from darksecrets.features.tables import BROAD_FOR_LENGTH, SAME_LAYER
from darksecrets.run.columns import RANDOM
from darksecrets.stats.independent import mean_of_independent

_ESTIMATE = ["value", "low", "high"]
_MODEL = ["state", "seed"]


def same_layer(redundancy: pd.DataFrame) -> pd.DataFrame:
    """How much nearer heads of one layer are to each other than heads at random.

    Args:
        redundancy: The table ``redundancy``.

    Returns:
        Columns ``state``, ``seed``; ``value``, with ``low`` and ``high``.
    """
    return _over_tasks(_same_layer(redundancy), [])


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
    control = rows[is_random].set_index("task")[_ESTIMATE]
    return _over_tasks(_difference(rows[~is_random], control, ["task"]), [])


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
    control = rows[is_random].set_index(["task", "type"])[_ESTIMATE]
    return _over_tasks(_difference(rows[~is_random], control, ["task", "type"]), ["type"])


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
    lower, upper = (half.groupby(key, sort=False, dropna=False)[_ESTIMATE].sum() for half in halves)
    found = lower - upper.rename(columns={"low": "high", "high": "low"})[_ESTIMATE]
    return _over_tasks(found.reset_index(), [])


def _same_layer(redundancy: pd.DataFrame) -> pd.DataFrame:
    rows = redundancy[redundancy["pairs"] == SAME_LAYER]
    names = {"difference": "value", "difference_low": "low", "difference_high": "high"}
    return rows.rename(columns=names)


def _counted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.rename(columns={"heads": "value", "ci_low": "low", "ci_high": "high"})


def _difference(rows: pd.DataFrame, control: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
    """Rows minus the control of the same key; half-widths add up."""
    swapped = control.rename(columns={"low": "high", "high": "low"}).add_suffix("_control")
    both = rows.merge(swapped, left_on=list(on), right_index=True)
    return both.assign(**{name: both[name] - both[f"{name}_control"] for name in _ESTIMATE})


def _over_tasks(rows: pd.DataFrame, each: Sequence[str]) -> pd.DataFrame:
    """Means over tasks, which do not depend on each other."""
    found = [
        (*key, *mean_of_independent(*(part[name] for name in _ESTIMATE)))
        for key, part in rows.groupby([*_MODEL, *each], sort=False, dropna=False)
    ]
    return pd.DataFrame(found, columns=[*_MODEL, *each, *_ESTIMATE])
