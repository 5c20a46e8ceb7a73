"""Numbers about attention and decisions that claims need: means over the tasks of the run."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from darksecrets.run.columns import RANDOM, SEPARATOR
from darksecrets.stats.independent import mean_of_independent

_ESTIMATE = ["value", "low", "high"]
_MODEL = ["state", "seed"]


def separator_in_upper_layers(gradients: pd.DataFrame) -> pd.DataFrame:
    """The gradient by attention to [SEP], relative to other tokens, in the upper half of layers.

    Args:
        gradients: The table ``attention_gradients``.

    Returns:
        Columns ``state``, ``seed``; ``value``, with ``low`` and ``high``: means of those of the
        layers, which is valid for any dependence.
    """
    _, upper = _halves(_of_separators(gradients))
    return _over_tasks(upper, [])


def separator_upper_over_lower(gradients: pd.DataFrame) -> pd.DataFrame:
    """How much less it is there than in the lower half of the layers; see above.

    Returns:
        No rows for encoders of one layer.
    """
    lower, upper = _halves(_of_separators(gradients))
    return _over_tasks(_difference(upper, lower, ["task", *_MODEL]), [])


def separator_over_random(gradients: pd.DataFrame) -> pd.DataFrame:
    """How much less it is there than in the encoder with random weights; see above."""
    _, upper = _halves(_of_separators(gradients))
    is_random = upper["state"] == RANDOM
    return _over_tasks(_difference(upper[~is_random], upper[is_random], ["task"]), [])


def agreement(faithfulness: pd.DataFrame) -> pd.DataFrame:
    """Rank correlations of the whole encoder.

    Args:
        faithfulness: The table ``faithfulness``.

    Returns:
        Columns ``state``, ``seed``, ``compared``; ``value``, with ``low`` and ``high``.
    """
    rows = faithfulness[faithfulness["layer"].isna()]
    return _over_tasks(_named(rows, "tau"), ["compared"])


def over_random_order(erasure: pd.DataFrame) -> pd.DataFrame:
    """How many more tokens must be erased than in random order.

    Args:
        erasure: The table ``erasure``.

    Returns:
        Columns ``state``, ``seed``, ``importance``; ``value``, with ``low`` and ``high``.
    """
    return _over_tasks(_named(erasure, "over_random"), ["importance"])


def over_weights(erasure: pd.DataFrame) -> pd.DataFrame:
    """How many more tokens must be erased than in the order of weights; see above."""
    return _over_tasks(_named(erasure, "over_weights"), ["importance"])


def _of_separators(gradients: pd.DataFrame) -> pd.DataFrame:
    """Relative gradients by attention to [SEP], of layers."""
    rows = gradients[gradients["kind"] == SEPARATOR]
    return _named(rows[rows["layer"].notna() & rows["head"].isna()], "relative")


def _halves(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Means over the lower and the upper half of the layers, without a middle one."""
    last, key = int(rows["layer"].max()), ["task", *_MODEL]
    first = last // 2 if last > 1 else 0
    halves = rows[rows["layer"] <= first], rows[rows["layer"] > last - max(first, 1)]
    lower, upper = (
        half.groupby(key, sort=False, dropna=False)[_ESTIMATE].mean().reset_index()
        for half in halves
    )
    return lower, upper


def _named(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows with a column and its interval as ``value``, ``low``, ``high``."""
    names = {column: "value", f"{column}_low": "low", f"{column}_high": "high"}
    return rows.rename(columns=names)


def _difference(rows: pd.DataFrame, control: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
    """Rows minus the control of the same key; half-widths add up, for any dependence."""
    swapped = control.rename(columns={"low": "high", "high": "low"})
    both = rows.merge(swapped, on=list(on), suffixes=("", "_control"))
    return both.assign(**{name: both[name] - both[f"{name}_control"] for name in _ESTIMATE})


def _over_tasks(rows: pd.DataFrame, each: Sequence[str]) -> pd.DataFrame:
    """Means over tasks, which do not depend on each other; of several seeds, over their tasks."""
    found = [
        (*key, *mean_of_independent(*(part[name] for name in _ESTIMATE)))
        for key, part in rows.groupby([*_MODEL, *each], sort=False, dropna=False)
    ]
    return pd.DataFrame(found, columns=[*_MODEL, *each, *_ESTIMATE])
