"""Paired tests of mean differences, and tests against several controls at once.

A head counts only if it exceeds every control. The null hypothesis is then a union, that it
fails to exceed at least one of them, and the largest of the p-values tests it (intersection–union
test, Berger 1982).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.resampling import (
    Groups,
    blocks,
    group_sums,
    interval_of_known,
    resampled_means,
    widened,
)

_TIE = 1e-9  # relative to a statistic of order 1; sums of the same numbers in another order


@dataclass(frozen=True)
class SignFlips:
    """One-sided tests of mean differences above 0.

    Attributes:
        p: [...] p-value of each test.
        family: [...] the same, corrected for the family-wise error over all tests.
    """

    p: Floats
    family: Floats


def sign_flips(
    differences: Floats,
    draws: int,
    rng: np.random.Generator,
    *,
    zero: float = 0.0,
    groups: Groups | None = None,
) -> SignFlips:
    """Test whether mean differences are greater than 0 by changing their signs at random.

    All tests share the draws, so the correction takes their dependence into account (maximum
    statistic of Westfall and Young 1993). Each sum is divided by the root of its sum of squares,
    which sign changes preserve; this makes it equivalent to Student's t, so the test is exact for
    symmetric differences, and valid in large samples for any differences with mean 0. Changes in
    either direction are tested by `permutation.sign_permutation`.

    Args:
        differences: [units, ...] a difference for each independent unit and test; NaN if a unit has
            none.
        draws: Number of random sign changes.
        rng: Source of randomness.
        zero: Differences up to this size count as 0, because they may be rounding errors.
        groups: [units] number of the group of each unit, if units of a group depend on each other:
            they share their sign.

    Returns:
        P-values of at least 1 / (1 + draws); 1 where all differences are 0.
    """
    units, shape = len(differences), differences.shape[1:]
    known = np.nan_to_num(differences.reshape(units, -1))
    known[np.abs(known) <= zero] = 0
    known = group_sums(known, groups)
    units = len(known)
    size = np.sqrt((known**2).sum(axis=0))
    scaled = known / np.where(size > 0, size, 1)
    observed = scaled.sum(axis=0) - _TIE
    above, above_family = np.ones((2, len(observed)))
    for rows in blocks(draws, max(units, len(observed))):
        signs = rng.integers(2, size=(rows, units)) * 2.0 - 1
        drawn = signs @ scaled
        above += (drawn >= observed).sum(axis=0)
        highest = np.sort(drawn.max(axis=1))
        above_family += len(highest) - np.searchsorted(highest, observed)
    p, family = ((count / (1 + draws)).reshape(shape) for count in (above, above_family))
    return SignFlips(p, family)


_WORST = 3.1787  # 1 / (4 P(Z > √2))


def sign_bound(sums: Floats, squares: Floats) -> Floats:
    """Largest p-value that random sign changes can give, from sums; one-sided.

    It needs neither draws nor the differences themselves: the sum of numbers with random signs,
    divided by the root of their sum of squares, exceeds any value at most 3.18 times as often as a
    normal variable (Bentkus and Dzindzalieta 2015, "A tight Gaussian bound for weighted sums of
    Rademacher random variables"). `sign_flips` is the test itself.

    Args:
        sums: [...] sum of the differences over independent units.
        squares: [...] sum of their squares, or more.

    Returns:
        [...] p-values of a mean above 0; 1 where all differences are 0.
    """
    from scipy.stats import norm

    scaled = sums / np.sqrt(np.where(squares > 0, squares, 1))
    return np.where(squares > 0, np.minimum(1, _WORST * norm.sf(scaled)), 1.0)


def intersection_union(p: Floats) -> Floats:
    """Test that all of several effects are present: the largest p-value over the first axis.

    It keeps the family-wise error if ``p`` is corrected over all effects of all tests together.
    """
    return p.max(axis=0)


def nanmean(values: Floats, axis: int = -1) -> Floats:
    """Mean over an axis of the values that are not NaN; NaN if there are none."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        result: Floats = np.where(known, values, 0).sum(axis=axis) / known.sum(axis=axis)
    return result


def mean_intervals(
    values: Floats, resamples: int, rng: np.random.Generator, *, groups: Groups | None = None
) -> Floats:
    """Bootstrap intervals of means over independent units.

    Args:
        values: [units, ...]; NaN if a unit has no value.
        resamples: Number of bootstrap samples; all means share them.
        rng: Source of randomness.
        groups: [units] number of the group of each unit, if units of a group depend on each other:
            they are drawn together.

    Returns:
        [2, ...] lower and upper ends; NaN where no unit has a value.
    """
    means = resampled_means(values.reshape(len(values), -1), resamples, rng, groups=groups)
    return interval_of_known(means).reshape(2, *values.shape[1:])


FEWEST = 6
"""Units that a test needs: with fewer, no choice of signs is rarer than 5 % in two-sided tests."""


def mean_over_heads(values: Floats) -> Floats:
    """Means over the heads of every layer, and of the whole encoder.

    Args:
        values: [..., layers, heads]; NaN for heads without a value, which are left out.

    Returns:
        [..., layers + 1]; the last is of the encoder. NaN where no head has a value.
    """
    every = values.reshape(*values.shape[:-2], -1)
    encoder = nanmean(every, axis=-1)[..., None]
    return np.concatenate([nanmean(values, axis=-1), encoder], axis=-1)


def ends_of_means(drawn: Floats, means: Floats, units: Integers) -> Floats:
    """95% intervals of means over examples, from bootstrap samples.

    Args:
        drawn: [resamples, ...] means of the samples; NaN where a sample has no value.
        means: [...] the means.
        units: [...] numbers of examples.

    Returns:
        [2, ...] both ends, see `resampling.widened`; NaN with fewer than `FEWEST` examples.
    """
    ends = widened(interval_of_known(drawn), means, units)
    return np.where(units >= FEWEST, ends, np.nan)


@dataclass(frozen=True)
class Student:
    """Student's paired t: means, their intervals and one-sided tests.

    Attributes:
        mean: [...]; NaN without units.
        low: [...] lower end of the interval; NaN with fewer than `FEWEST` units, or if all
            differences are the same and not 0.
        high: [...] its upper end.
        p: [...] p-value of a mean above 0; 1 where all differences are 0, or with fewer than
            `FEWEST` units.
    """

    mean: Floats
    low: Floats
    high: Floats
    p: Floats


def student(sums: Floats, squares: Floats, units: Integers) -> Student:
    """Test mean differences from sums, where there are too many differences to keep.

    If all differences are the same up to rounding, they have no spread to compare their mean with:
    the p-value is then the chance that all of their signs are the same, 1 / 2^units.

    Args:
        sums: [...] sum of the differences over independent units.
        squares: [...] sum of their squares.
        units: [...] number of units, of the same shape or broadcast to it.
    """
    from scipy.stats import t

    units = np.broadcast_to(units, sums.shape).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums / units
        variance = squares / units - mean**2
        same = variance <= np.finfo(np.float64).eps * squares  # the rounding errors of both sums
        spread = np.sqrt(np.where(same, 0, variance) / (units - 1))
        known = (units >= FEWEST) & ~(same & (squares > 0))
        reach = np.where(known, t.ppf(1 - LEVEL / 2, units - 1) * spread, np.nan)
        p = np.where(same, np.where(mean > 0, 0.5**units, 1), t.sf(mean / spread, units - 1))
    return Student(mean, mean - reach, mean + reach, np.where(units >= FEWEST, p, 1.0))
