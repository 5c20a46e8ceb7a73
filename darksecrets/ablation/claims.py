"""Numbers about disabled heads that claims need and no table has."""

from __future__ import annotations

import pandas as pd


def tolerated_shares(tolerated: pd.DataFrame) -> pd.DataFrame:
    """Shares of the model's heads that can be disabled together.

    Args:
        tolerated: The table ``tolerated_heads``.

    Returns:
        The table, with ``value``, ``low`` and ``high``: shares instead of numbers of heads.
    """
    ends = {"value": "tolerated", "low": "ci_low", "high": "ci_high"}
    return tolerated.assign(
        **{name: tolerated[column] / tolerated["heads"] for name, column in ends.items()}
    )
