"""Shares, and ratios of sums, over clusters: each example has any number of maps.

Examples are the sampling units. Standard errors are those of a ratio estimator (linearization over
clusters; Cochran 1977, *Sampling Techniques*, section 6.4), with Student's t for the number of
clusters that have observations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.resampling import feasible

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

    def columns(
        self, name: str, lowest: float = -np.inf, highest: float = np.inf
    ) -> dict[str, Floats]:
        """The ratio and its interval, as far as that is possible, by the names of columns."""
        low, high = feasible([self.low, self.high], lowest, highest)
        return {name: self.value, f"{name}_low": low, f"{name}_high": high}


def ratio(sums: Floats, sizes: Floats) -> Ratio:
    """Sum of ``sums`` over sum of ``sizes``, with Student's interval over clusters.

    Args:
        sums: [clusters, ...] what a cluster's observations add up to.
        sizes: [clusters, ...] number of observations of each cluster.
    """
    known = _linearized(sums, sizes)
    half = known.critical * known.error
    return Ratio(known.value, known.value - half, known.value + half)


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
    known = _linearized(hits, sizes)
    value, critical = known.value, known.critical
    variance = np.maximum(value * (1 - value), 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = np.minimum(known.size, variance / known.error**2)
        independent = np.where(variance > _ROUNDING, seen, known.clusters)
        squared = critical**2 / independent
        centre = (value + squared / 2) / (1 + squared)
        half = np.sqrt(squared * variance + squared**2 / 4) / (1 + squared)
    return Ratio(value, centre - half, centre + half)


@dataclass(frozen=True)
class _Linearized:
    """A ratio of sums over clusters, and how well it is known.

    Attributes:
        value: [...] the ratio; NaN without observations.
        error: [...] its standard error; NaN with fewer than two clusters.
        critical: [...] critical value of the interval; NaN with fewer than two clusters.
        size: [...] number of observations.
        clusters: [...] clusters that have observations.
    """

    value: Floats
    error: Floats
    critical: Floats
    size: Floats
    clusters: Integers


def _linearized(sums: Floats, sizes: Floats) -> _Linearized:
    """See `ratio` for the arguments."""
    from scipy.stats import t

    size, clusters = sizes.sum(axis=0), (sizes > 0).sum(axis=0)
    known = clusters > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        value = sums.sum(axis=0) / size
        squares = ((sums - value * sizes) ** 2).sum(axis=0)
        error = np.sqrt(clusters / (clusters - 1) * squares) / size
    critical = t.ppf(1 - LEVEL / 2, np.maximum(clusters - 1, 1))
    return _Linearized(
        value=value,
        error=np.where(known, error, np.nan),
        critical=np.where(known, critical, np.nan),
        size=size,
        clusters=clusters,
    )
