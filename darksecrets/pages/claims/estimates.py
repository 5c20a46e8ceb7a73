"""Estimates with 95% intervals: over several seeds, for several comparisons, against a threshold.

Intervals are combined without the data behind them, so every rule here is conservative: sums and
differences on the same examples are valid for any dependence between their terms.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.resampling import feasible
from darksecrets.core.stats.seeds import critical_value
from darksecrets.pages.claims.answers import Answer


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes:
        name: What it is about, such as a task and a feature; empty for the run as a whole.
        value: The number; NaN if it is unknown.
        low: Lower end of the 95% interval.
        high: Its upper end.
        seeds: Number of fine-tuning seeds behind it; None if it does not depend on one.
        degrees: Degrees of freedom of Student's distribution that the interval is from; infinite
            for the normal distribution.
        unknown: Why the number cannot be used to decide; empty if it can.
        of_examples: Variance that comes from the examples, which more seeds do not reduce; NaN if
            it is not known.
        allowed: How far the interval reaches below and above what seeds and examples account for,
            see `darksecrets.pages.claims.failures`.
        bounds: Least and greatest value that the number can have: over few seeds, the interval may
            reach beyond.
        lacks: What a run would need for a number that decides, in words; empty if it is known.
        together: Number of intervals that hold together, for which this one is wide enough.
    """

    name: tuple[str, ...]
    value: float
    low: float
    high: float
    seeds: int | None = None
    degrees: float = math.inf
    unknown: str = ""
    of_examples: float = math.nan
    allowed: tuple[float, float] = (0.0, 0.0)
    bounds: tuple[float, float] = (-math.inf, math.inf)
    lacks: str = ""
    together: int = 1

    @classmethod
    def missing(cls, name: tuple[str, ...], why: str, lacks: str = "") -> Estimate:
        """An estimate that no table gives."""
        return cls(name, math.nan, math.nan, math.nan, unknown=why, lacks=lacks)

    @property
    def is_known(self) -> bool:
        """Whether it can decide anything."""
        return not self.unknown

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, as far as the number can be there: thresholds decide as with all of it."""
        low, high = feasible([self.low, self.high], *self.bounds)
        return float(low), float(high)

    def widen_for(self, comparisons: int) -> Estimate:
        """Widen the interval so that it is one of several that hold together (Bonferroni).

        The sampling distribution is taken to be normal, or Student's, on each side; an estimate
        without uncertainty stays as it is.
        """
        if comparisons < 2:
            return self
        factor = _wider(comparisons, self.degrees)
        low = self.value - factor * (self.value - self.low)
        high = self.value + factor * (self.high - self.value)
        return replace(self, low=low, high=high, together=comparisons)


@cache
def _wider(comparisons: int, degrees: float) -> float:
    from scipy import stats

    usual, wide = (stats.t.isf(p, degrees) for p in (LEVEL / 2, LEVEL / 2 / comparisons))
    return float(wide / usual)


@dataclass(frozen=True)
class Threshold:
    """What an estimate is compared with.

    Attributes:
        above: The statement is that the estimate is greater than this.
        below: … less than this.
        near: … within ``within`` of this.
        within: Greatest distance from ``near``.
    """

    above: float | None = None
    below: float | None = None
    near: float | None = None
    within: float | None = None

    def __post_init__(self) -> None:
        given = [side for side in (self.above, self.below, self.near) if side is not None]
        if len(given) != 1 or (self.near is None) != (self.within is None):
            raise ValueError("needs one of above, below, or near together with within")

    def answer(self, estimate: Estimate) -> Answer:
        """Whether the estimate is on the side claimed; open if its interval has both sides."""
        if not estimate.is_known:
            return Answer.OPEN
        low, high = estimate.low, estimate.high
        if self.above is not None:
            return _decide(low > self.above, high <= self.above)
        if self.below is not None:
            return _decide(high < self.below, low >= self.below)
        least, greatest = self._around()
        return _decide(least <= low and high <= greatest, high < least or low > greatest)

    @property
    def words(self) -> str:
        """The region claimed, such as ``above 0``."""
        if self.above is not None:
            return f"above {self.above:g}"
        if self.below is not None:
            return f"below {self.below:g}"
        least, greatest = self._around()
        return f"between {least:g} and {greatest:g}" if self.within else f"{self.near:g}"

    @property
    def refuted(self) -> str:
        """What is found if the statement is false."""
        return f"not {self.words}"

    @property
    def undecided(self) -> str:
        """What is found if the statement is undecided."""
        if self.near is None:
            bound = self.above if self.above is not None else self.below
            return f"the interval includes {bound:g}"
        least, greatest = self._around()
        return f"the interval is in part outside of {least:g} to {greatest:g}"

    def margin(self, estimate: Estimate) -> float:
        """How far the estimate is on the side claimed; the least one decides `every`."""
        if self.above is not None:
            return estimate.low - self.above
        if self.below is not None:
            return self.below - estimate.high
        least, greatest = self._around()
        return min(estimate.low - least, greatest - estimate.high)

    def _around(self) -> tuple[float, float]:
        assert self.near is not None
        assert self.within is not None
        return self.near - self.within, self.near + self.within


@dataclass(frozen=True)
class SignificanceLevel(Threshold):
    """What a p-value is compared with: it is below or not, and then proves nothing."""

    @property
    def words(self) -> str:
        """The region claimed, such as ``p-value below 0.05``."""
        return f"p-value {super().words}"

    @property
    def refuted(self) -> str:
        """What is found if the p-value is not below."""
        return f"p-value not {super().words}"

    @property
    def undecided(self) -> str:
        """The same: a p-value has no interval."""
        return self.refuted


def _decide(yes: bool, no: bool) -> Answer:
    if yes:
        return Answer.YES
    return Answer.NO if no else Answer.OPEN


@dataclass(frozen=True)
class Spread:
    """How much fine-tuning seeds differ.

    Attributes:
        deviation: Standard deviation over seeds.
        degrees: Its degrees of freedom; 0 if no two seeds were compared.
    """

    deviation: float
    degrees: int


def spread(groups: Iterable[Sequence[float]]) -> Spread:
    """The pooled standard deviation over seeds of several things, such as tasks.

    Args:
        groups: For each of the things, the values of its seeds.
    """
    known = [np.asarray(group) for group in groups if len(group) > 1]
    degrees = sum(len(group) - 1 for group in known)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in known)
    return Spread(math.sqrt(squares / degrees) if degrees else 0.0, degrees)


def average_over_seeds(parts: Sequence[Estimate], pooled: Spread) -> Estimate:
    """The mean over fine-tuning seeds, each with its own interval over the same examples.

    The variance is the sum of three parts, and the critical value the mean of theirs weighted by
    them, see `core.stats.seeds`. The first is that of the examples, from the mean half-width
    over the seeds, as all are scored on the same ones. The second is the variance over seeds pooled
    over all things of a question, as two or three seeds say little by themselves. The third, if the
    seeds of this thing differ more, is what their own variance exceeds it by.

    Args:
        parts: An estimate for every seed, two at least.
        pooled: The spread over seeds of all things compared.
    """
    values = np.array([part.value for part in parts])
    mean, count = float(values.mean()), len(parts)
    excess = max(float(values.var(ddof=1)) - pooled.deviation**2, 0.0)
    seed_variance = (pooled.deviation**2 / count, pooled.degrees), (excess / count, count - 1)

    def reach(half: float) -> tuple[float, float]:
        """Half-width over seeds and examples, and degrees of freedom to widen it with."""
        variances = ((half / critical_value(LEVEL)) ** 2, math.inf), *seed_variance
        error = math.sqrt(sum(variance for variance, _ in variances))
        _, degrees = max(variances, key=operator.itemgetter(0))
        return critical_value(LEVEL, *variances) * error, min(degrees, pooled.degrees)

    sides = [float(np.mean([part.value - part.low for part in parts]))]
    sides.append(float(np.mean([part.high - part.value for part in parts])))
    (below, degrees), (above, others) = map(reach, sides)
    return Estimate(
        *(parts[0].name, mean, mean - below, mean + above, count, min(degrees, others)),
        of_examples=(sum(sides) / 2 / critical_value(LEVEL)) ** 2,
    )


def total(parts: Sequence[Estimate]) -> Estimate:
    """The sum of estimates; valid for any dependence between them."""
    first, *_ = parts
    return replace(
        first,
        value=sum(part.value for part in parts),
        low=sum(part.low for part in parts),
        high=sum(part.high for part in parts),
        of_examples=sum(math.sqrt(part.of_examples) for part in parts) ** 2,
    )


def difference(more: Estimate, less: Estimate, *, independent: bool) -> Estimate:
    """`more` − `less`, with its interval.

    Args:
        more: The one subtracted from.
        less: The one subtracted.
        independent: Whether they are from different examples, such as those of two tasks; if not,
            the interval is valid for any dependence.
    """
    name = (f"{' '.join(more.name)} − {' '.join(less.name)}",)
    value = more.value - less.value
    below = (more.value - more.low, less.high - less.value)
    above = (more.high - more.value, less.value - less.low)
    combine = math.hypot if independent else operator.add
    seeds = [each.seeds for each in (more, less) if each.seeds is not None]
    low, high = value - combine(*below), value + combine(*above)
    unknown = more.unknown or less.unknown
    degrees = min(more.degrees, less.degrees)
    of_examples = combine(math.sqrt(more.of_examples), math.sqrt(less.of_examples)) ** 2
    return Estimate(
        *(name, value, low, high, min(seeds, default=None), degrees, unknown),
        bounds=(more.bounds[0] - less.bounds[1], more.bounds[1] - less.bounds[0]),
        of_examples=of_examples,
    )
