"""Shares, and ratios of sums, over clusters: each example has any number of maps.

Examples are the sampling units. Standard errors are those of a ratio estimator (linearization over
clusters; Cochran 1977, *Sampling Techniques*, section 6.4), with Student's t for the number of
clusters that have observations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from darksecrets.stats import LEVEL

Floats = npt.NDArray[np.float64]

_ROUNDING = 1e-9  # shares this close to 0 or 1 are 0 or 1


@dataclass(frozen=True)
class Ratio:
    """A ratio of sums with its 95% interval; NaN where it is not known.

    Attributes:
        value: NaN without observations.
        low: Lower end; NaN if fewer than two clusters have observations.
        high: Upper end.
    """

    value: Floats
    low: Floats
    high: Floats


def ratio(sums: Floats, sizes: Floats) -> Ratio:
    """Sum of ``sums`` over sum of ``sizes``, with Student's interval over clusters.

    Args:
        sums: [clusters, ...] what a cluster's observations add up to.
        sizes: [clusters, ...] number of observations of each cluster.
    """
    value, error, critical = _linearized(sums, sizes)
    return Ratio(value, value - critical * error, value + critical * error)


def share(hits: Floats, sizes: Floats) -> Ratio:
    """The share of observations that have a property, with Wilson's interval over clusters.

    As in surveys (Korn and Graubard 1998; Dean and Pagano 2015), Wilson's interval is that of the
    number of independent observations that would have the same standard error, at most as many as
    there are. If all observations have the property, or none, no standard error can be seen; then
    this number is that of the clusters, as if all observations of one were the same.

    Args:
        hits: [clusters, ...] observations with the property; parts of one count, too.
        sizes: [clusters, ...] number of observations of each cluster.
    """
    value, error, critical = _linearized(hits, sizes)
    variance = np.maximum(value * (1 - value), 0)
    clusters, observations = (sizes > 0).sum(axis=0), sizes.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        independent = np.where(
            variance > _ROUNDING, np.minimum(observations, variance / error**2), clusters
        )
        squared = critical**2 / independent
        centre = (value + squared / 2) / (1 + squared)
        half = np.sqrt(squared * variance + squared**2 / 4) / (1 + squared)
    return Ratio(value, centre - half, centre + half)


def difference(first: Ratio, second: Ratio) -> Ratio:
    """First − second, with the interval that follows from theirs (Zou and Donner 2008).

    It covers at least 95% if the two do not depend on each other, or rise and fall together.
    """
    value = first.value - second.value
    below = np.hypot(first.value - first.low, second.high - second.value)
    above = np.hypot(first.high - first.value, second.value - second.low)
    return Ratio(value, value - below, value + above)


def _linearized(sums: Floats, sizes: Floats) -> tuple[Floats, Floats, Floats]:
    """The ratio, its standard error, and the critical value of its interval."""
    from scipy.stats import t

    clusters, observations = (sizes > 0).sum(axis=0), sizes.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = sums.sum(axis=0) / observations
        squares = ((sums - value * sizes) ** 2).sum(axis=0)
        error = np.sqrt(clusters / (clusters - 1) * squares) / observations
    known = clusters > 1
    critical = np.where(known, t.ppf(1 - LEVEL / 2, np.maximum(clusters - 1, 1)), np.nan)
    return value, np.where(known, error, np.nan), critical
