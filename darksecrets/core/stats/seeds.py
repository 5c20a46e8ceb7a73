"""Means over fine-tuning seeds and examples: intervals and tests.

A mean varies with the examples and with the seed of the model. Its variance is the sum of both
parts: over examples, by a bootstrap that draws the same examples for all seeds; over n seeds, s²/n.
A bootstrap over seeds would not do: two seeds give an interval between themselves, which covers the
mean half of the time. What depends on both, examples that one seed gets right and another does not,
is in both parts: the interval is a little too wide rather than too narrow (Owen 2007, the
pigeonhole bootstrap).

A critical value has to allow for how little a few seeds tell of their spread:

- By itself, a mean has that of Cochran and Cox (1957): the mean of the critical values of the
  parts, the normal one and Student's, weighted by their variances. Satterthwaite's degrees of
  freedom would not do: where two seeds agree by chance, they take the spread to be small and well
  known, and cover as little as 87%.
- In a family of many means, such as the effects of all heads, s² is at least its mean over the
  family, which rules that out. Satterthwaite's degrees of freedom are then enough, also where the
  seeds move all means together, and have power that Cochran and Cox's critical value lacks. A mean
  whose spread is much greater than the others' has p < .05 in up to 10 % of cases with two or three
  seeds; corrected over the family, false ones stay below 5 %.

With one seed, intervals and tests cover the examples only: they are about the models at hand, not
about what other seeds would give.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from darksecrets.core.arrays import Floats
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.correlation import ratio

_LEAST = -500.0  # logarithm of the smallest p-value


@dataclass(frozen=True)
class Means:
    """Means over seeds, with their intervals and tests, all [...].

    Attributes:
        mean: The means.
        low: Lower ends of the intervals.
        high: Upper ends.
        p: Two-sided p-values of a mean of 0; 0 where nothing varies, 1 if the mean is 0, too.
        of_seeds: Share of the variance that is due to seeds.
    """

    mean: Floats
    low: Floats
    high: Floats
    p: Floats
    of_seeds: Floats


def mean_over_seeds(values: Floats, of_examples: Floats | float, *, family: bool = False) -> Means:
    """Intervals and tests of means over seeds.

    Args:
        values: [seeds, ...] scores, or differences, on all examples.
        of_examples: [...] variance of the means over these seeds that comes from the examples.
        family: Whether the means are many alike, in at least two seeds; see the module.
    """
    seeds, mean = len(values), np.asarray(values.mean(axis=0))
    squares = values.var(axis=0, ddof=1) if seeds > 1 else np.zeros_like(mean)
    if family:
        squares = np.maximum(squares, squares.mean())
    variance = np.asarray(of_examples + squares / seeds)
    error, share = np.sqrt(variance), ratio(np.asarray(squares / seeds), variance)
    critical, p = (_satterthwaite if family else _cochran_cox)(
        ratio(np.abs(mean), error), share, seeds
    )
    p = np.where(variance > 0, p, mean == 0)
    return Means(mean, mean - critical * error, mean + critical * error, p, share)


def degrees_of_freedom(share: Floats, seeds: int) -> Floats:
    """Satterthwaite's degrees of freedom, [...].

    Args:
        share: [...] the part of the variance that seeds make up.
        seeds: Number of seeds.
    """
    with np.errstate(divide="ignore"):
        return np.asarray((seeds - 1) / share**2)


def _satterthwaite(statistics: Floats, share: Floats, seeds: int) -> tuple[Floats, Floats]:
    """[...] critical values and p-values."""
    from scipy.stats import t

    degrees = degrees_of_freedom(share, seeds)
    return np.asarray(t.isf(LEVEL / 2, degrees)), np.asarray(2 * t.sf(statistics, degrees))


def _cochran_cox(statistics: Floats, share: Floats, seeds: int) -> tuple[Floats, Floats]:
    """[...] critical values and p-values, the levels whose critical values are the statistics."""
    degrees = max(1, seeds - 1)

    def critical(level: float, of_seeds: float) -> float:
        return critical_value(level, (1 - of_seeds, math.inf), (of_seeds, degrees))

    def p_value(statistic: float, of_seeds: float) -> float:
        from scipy.optimize import brentq

        def exceeds(log_level: float) -> float:
            return critical(math.exp(log_level), of_seeds) - statistic

        return math.exp(_LEAST if exceeds(_LEAST) <= 0 else brentq(exceeds, _LEAST, 0.0))

    every = [np.vectorize(one, otypes=[np.float64]) for one in (critical, p_value)]
    return every[0](LEVEL, share), every[1](statistics, share)


def critical_value(level: float, *parts: tuple[float, float]) -> float:
    """Cochran and Cox's two-sided critical value of a mean whose variance has several parts.

    Args:
        level: Share of the distribution beyond both critical values.
        parts: Each part's variance, in any unit, and its degrees of freedom; infinite if it is
            known. All variances 0 count as known.
    """
    total = sum(variance for variance, _ in parts)
    if total == 0:
        return _quantile(level / 2, math.inf)
    return float(sum(v / total * _quantile(level / 2, degrees) for v, degrees in parts if v > 0))


@lru_cache(maxsize=1024)
def _quantile(share: float, degrees: float) -> float:
    """The value that Student's t exceeds with a chance; few are asked for, and often."""
    from scipy.stats import t

    return float(t.isf(share, degrees))
