"""Percentiles: which values are high among others, the rank of a value, intervals of medians."""

from __future__ import annotations

import numpy as np

from darksecrets.core.arrays import Flags, Reals
from darksecrets.core.stats import LEVEL

PERCENTILE = 99.0
"""Heads above this percentile of all heads are marked, as in the paper (section 4.2)."""


def exceeds_percentile(values: Reals, percentile: float = PERCENTILE) -> Flags:
    """Mark values that are greater than a percentile of all of them.

    Percentiles are interpolated linearly: of 144 distinct values, the two highest are above the
    99th percentile; of fewer than 100, only the highest is. So being above it says nothing of the
    values themselves.

    Args:
        values: [...], any shape.
        percentile: From 0 to 100.

    Returns:
        [...].
    """
    return values > np.percentile(values, percentile)


FEWEST = 6
"""Values that an interval of a median needs: the ends of fewer leave it out more often."""


def median_interval(values: Reals) -> tuple[float, float]:
    """95% interval of a median: two of the values, for any distribution.

    Args:
        values: [values], independent of each other; at least `FEWEST`.
    """
    from scipy.stats import binom

    rank = int(binom.ppf(LEVEL / 2, len(values), 0.5))
    ordered = np.sort(values)
    return float(ordered[rank - 1]), float(ordered[-rank])
