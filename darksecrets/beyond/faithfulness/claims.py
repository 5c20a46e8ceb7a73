"""Numbers about attention and decisions that claims need: means over the tasks of the run."""

from __future__ import annotations

import pandas as pd

from darksecrets.core.run.columns import RANDOM, SEPARATOR
from darksecrets.core.stats.independent import ESTIMATE, means_of_independent, minus, named

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
    return means_of_independent(upper, _MODEL)


def separator_upper_over_lower(gradients: pd.DataFrame) -> pd.DataFrame:
    """How much less it is there than in the lower half of the layers; see above.

    Returns:
        No rows for encoders of one layer.
    """
    lower, upper = _halves(_of_separators(gradients))
    return means_of_independent(minus(upper, lower, ["task", *_MODEL]), _MODEL)


def separator_over_random(gradients: pd.DataFrame) -> pd.DataFrame:
    """How much less it is there than in the encoder with random weights; see above."""
    _, upper = _halves(_of_separators(gradients))
    is_random = upper["state"] == RANDOM
    return means_of_independent(minus(upper[~is_random], upper[is_random], ["task"]), _MODEL)


def agreement(faithfulness: pd.DataFrame) -> pd.DataFrame:
    """Rank correlations of the whole encoder.

    Args:
        faithfulness: The table ``faithfulness``.

    Returns:
        Columns ``state``, ``seed``, ``compared``; ``value``, with ``low`` and ``high``.
    """
    rows = faithfulness[faithfulness["layer"].isna()]
    return means_of_independent(named(rows, "tau"), [*_MODEL, "compared"])


def over_random_order(erasure: pd.DataFrame) -> pd.DataFrame:
    """How many more tokens must be erased than in random order.

    Args:
        erasure: The table ``erasure``.

    Returns:
        Columns ``state``, ``seed``, ``importance``; ``value``, with ``low`` and ``high``.
    """
    return means_of_independent(named(erasure, "over_random"), [*_MODEL, "importance"])


def _of_separators(gradients: pd.DataFrame) -> pd.DataFrame:
    """Relative gradients by attention to [SEP], of layers."""
    rows = gradients[gradients["kind"] == SEPARATOR]
    return named(rows[rows["layer"].notna() & rows["head"].isna()], "relative")


def _halves(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Means over the lower and the upper half of the layers, without a middle one."""
    last, key = int(rows["layer"].max()), ["task", *_MODEL]
    first = last // 2 if last > 1 else 0
    halves = rows[rows["layer"] <= first], rows[rows["layer"] > last - max(first, 1)]
    lower, upper = (
        half.groupby(key, sort=False, dropna=False)[ESTIMATE].mean().reset_index()
        for half in halves
    )
    return lower, upper
