"""Shares, and ratios of sums, over clusters: each example has any number of maps.

Examples are the sampling units. Standard errors are those of a ratio estimator (linearization over
clusters; Cochran 1977, *Sampling Techniques*, section 6.4), with Student's t for the number of
clusters that have observations.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from darksecrets.arrays import Floats, Integers
from darksecrets.stats import LEVEL
from darksecrets.stats.resampling import feasible

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


@dataclass
class Sums:
    """What `ratio` and `share` need of all clusters, which may come in blocks.

    The squares need the ratio, so that all clusters are added twice: first by `add`, then by
    `add_squares`. They are added one after the other, so that blocks make no difference, not even
    in the last digit.

    Attributes:
        sums: [...] sum over clusters of what their observations add up to.
        sizes: [...] number of observations.
        clusters: [...] clusters that have observations.
        squares: [...] sum of the squared deviations from what the ratio predicts of a cluster.
    """

    sums: Floats = field(default_factory=lambda: np.zeros(()))
    sizes: Floats = field(default_factory=lambda: np.zeros(()))
    clusters: Integers = field(default_factory=lambda: np.zeros((), np.int64))
    squares: Floats = field(default_factory=lambda: np.zeros(()))

    def add(self, sums: Floats, sizes: Floats) -> None:
        """Add [clusters, ...] sums, which are whole numbers or few, and numbers of observations."""
        self.sums = self.sums + sums.sum(axis=0)
        self.sizes = self.sizes + sizes.sum(axis=0)
        self.clusters = self.clusters + (sizes > 0).sum(axis=0)

    def add_squares(self, sums: Floats, sizes: Floats) -> None:
        """Add the same, after all of them have been given to `add`."""
        self.squares = added(self.squares, (sums - self.value * sizes) ** 2)

    @property
    def value(self) -> Floats:
        """The ratio; NaN without observations."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sums / self.sizes

    def ratio(self) -> Ratio:
        """See the function of this name."""
        error, critical = self._linearized()
        return Ratio(self.value, self.value - critical * error, self.value + critical * error)

    def share(self) -> Ratio:
        """See the function of this name."""
        (error, critical), value = self._linearized(), self.value
        variance = np.maximum(value * (1 - value), 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            independent = np.where(
                variance > _ROUNDING, np.minimum(self.sizes, variance / error**2), self.clusters
            )
            squared = critical**2 / independent
            centre = (value + squared / 2) / (1 + squared)
            half = np.sqrt(squared * variance + squared**2 / 4) / (1 + squared)
        return Ratio(value, centre - half, centre + half)

    def _linearized(self) -> tuple[Floats, Floats]:
        """The standard error, and the critical value of the interval."""
        from scipy.stats import t

        clusters = self.clusters
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(clusters / (clusters - 1) * self.squares) / self.sizes
        known = clusters > 1
        critical = np.where(known, t.ppf(1 - LEVEL / 2, np.maximum(clusters - 1, 1)), np.nan)
        return np.where(known, error, np.nan), critical


def added(total: Floats, block: Floats) -> Floats:
    """A sum and [clusters, ...] more, one after the other, as in one sum over the first axis."""
    result = total
    for each in block:
        result = result + each
    return result


def ratio(sums: Floats, sizes: Floats) -> Ratio:
    """Sum of ``sums`` over sum of ``sizes``, with Student's interval over clusters.

    Args:
        sums: [clusters, ...] what a cluster's observations add up to.
        sizes: [clusters, ...] number of observations of each cluster.
    """
    return _of(sums, sizes).ratio()


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
    return _of(hits, sizes).share()


def difference(first: Ratio, second: Ratio) -> Ratio:
    """First − second, with the interval that follows from theirs (Zou and Donner 2008).

    It covers at least 95% if the two do not depend on each other, or rise and fall together.
    """
    value = first.value - second.value
    below = np.hypot(first.value - first.low, second.high - second.value)
    above = np.hypot(first.high - first.value, second.value - second.low)
    return Ratio(value, value - below, value + above)


def _of(sums: Floats, sizes: Floats) -> Sums:
    """All clusters at once."""
    found = Sums()
    found.add(sums, sizes)
    found.squares = np.asarray(((sums - found.value * sizes) ** 2).sum(axis=0))
    return found
