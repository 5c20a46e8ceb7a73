"""Means of estimates that do not depend on each other, such as those of several tasks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


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
