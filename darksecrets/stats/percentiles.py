"""Where a value stands among others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

PERCENTILE = 99.0
"""Heads above this percentile of all heads are singled out, as in the paper (section 4.2)."""


def above_percentile(
    values: npt.NDArray[np.floating], percentile: float = PERCENTILE, *, or_highest: bool = False
) -> npt.NDArray[np.bool_]:
    """Which values are greater than a percentile of all of them.

    Percentiles between two values are interpolated: of 144 different values the two highest are
    above the 99th, of fewer than 100 only the highest.

    Args:
        values: [...] of any shape.
        percentile: From 0 to 100.
        or_highest: Where values tie at the top so that none is above, mark those that tie; without
            it, none is marked. A figure marks them; whoever looks up effects of special heads must
            not.

    Returns:
        [...].
    """
    above: npt.NDArray[np.bool_] = values > np.percentile(values, percentile)
    if or_highest and not above.any():
        above = values == values.max()
    return above


def share_below(
    values: npt.NDArray[np.floating], others: npt.NDArray[np.floating]
) -> npt.NDArray[np.float64]:
    """Share of other values that are smaller; equal ones count half (mid-rank percentile).

    Args:
        values: [values].
        others: [others] what each is compared with.

    Returns:
        [values] in [0, 1].
    """
    differences = np.sign(values[:, None] - others)
    share: npt.NDArray[np.float64] = (1 + differences.mean(axis=1)) / 2
    return share
