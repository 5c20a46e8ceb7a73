"""Numbers about frame-semantic links that claims need and no table has."""

from __future__ import annotations

import pandas as pd

from darksecrets.core.stats.independent import ESTIMATE

_HEAD = ["state", "direction", "layer", "head"]


def heads_that_exceed_controls(heads: pd.DataFrame, controls: pd.DataFrame) -> pd.DataFrame:
    """Whether each head attends along the links more than its controls, and whether it may.

    Args:
        heads: The table ``framenet_heads``.
        controls: The table ``framenet_controls``.

    Returns:
        The former, with ``value`` and ``low``: 1 if the head exceeds all controls, else 0; and
        ``high``: 0 if the interval of one of the differences excludes that it exceeds that control,
        else 1. Added up over heads, they are the number that do, and the number of those that may.
    """
    refuted = controls.loc[controls["difference_high"] <= 0, _HEAD].drop_duplicates()
    places = pd.MultiIndex.from_frame(heads[_HEAD])
    possible = ~places.isin(pd.MultiIndex.from_frame(refuted))
    exceeds = heads["exceeds_controls"]
    return heads.assign(
        value=exceeds.astype(float),
        low=exceeds.astype(float),
        high=(exceeds | possible).astype(float),
    )


def heads_beyond_random(
    heads: pd.DataFrame, controls: pd.DataFrame, random: pd.DataFrame
) -> pd.DataFrame:
    """How many more heads exceed their controls than in any of twenty encoders with random weights.

    An encoder that encodes no links has more than twenty others in 1 of 21 cases.

    Args:
        heads: The table ``framenet_heads``, of which both directions count.
        controls: The table ``framenet_controls``.
        random: The table ``framenet_random``.

    Returns:
        Columns ``state``, ``value``, ``low`` and ``high``: numbers of heads of the encoder as in
        `heads_that_exceed_controls`, minus the largest number of a random encoder.
    """
    counted = heads_that_exceed_controls(heads, controls).groupby("state")[ESTIMATE].sum()
    return (counted - random["exceeding"].max()).reset_index()
