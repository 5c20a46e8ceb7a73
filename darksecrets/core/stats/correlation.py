"""Vectorised correlations of many predictions, defined as 0 where one side is constant."""

from __future__ import annotations

import numpy as np

from darksecrets.core.arrays import Flags, Floats, Integers, Values

EQUAL = 1e-6
"""Values differ only by float32 rounding if their range is at most this share of the largest."""


def is_constant(values: Values) -> Flags:
    """[...] whether the values along the last axis are equal up to rounding, see `EQUAL`."""
    numbers = np.asarray(values, dtype=np.float64)
    return np.ptp(numbers, axis=-1) <= EQUAL * np.abs(numbers).max(-1)


def drop_rounding(values: Values) -> Floats:
    """[rows, examples] in double precision; rows that are constant up to rounding become 0."""
    numbers = np.array(values, dtype=np.float64)
    numbers[is_constant(numbers)] = 0.0
    return numbers


def standardized(values: Values) -> Floats:
    """Scale to mean 0 and mean square 1, so that a correlation is a mean product.

    Args:
        values: [..., examples], or their ranks for Spearman's correlation; constant rows become 0.

    Returns:
        [..., examples].
    """
    numbers = np.asarray(values, dtype=np.float64)
    centered = numbers - numbers.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.mean(centered**2, axis=-1, keepdims=True))
    return ratio(centered, spread)


def correlation(covariance: Floats, variance: Floats, other_variance: Floats) -> Floats:
    """Correlation from second moments of standardized values; 0 where a side is constant."""
    varies = np.minimum(variance, other_variance) > EQUAL**2
    size = np.sqrt(np.where(varies, variance * other_variance, 1.0))
    return np.where(varies, np.clip(covariance / size, -1.0, 1.0), 0.0)


def ratio(over: Floats, under: Floats | Integers) -> Floats:
    """Divide; 0 where the divisor is not positive."""
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)


def correlate_moments(moments: Floats, least: float) -> Floats:
    """Pearson's correlation from sums, which can be added up over parts of the observations.

    Args:
        moments: [..., 6] number of observations (x, y), and their sums of x, y, x², y² and xy. All
            may be divided by the same number.
        least: Smallest standard deviation that counts as varying.

    Returns:
        [...]; NaN where x or y does not vary.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y, xx, yy, xy = np.moveaxis(moments[..., 1:] / moments[..., :1], -1, 0)
        variances = np.stack([xx - x**2, yy - y**2])
        found = (xy - x * y) / np.sqrt(variances.prod(axis=0))
    varies = (variances > least**2).all(axis=0)
    return np.where(varies, np.clip(found, -1.0, 1.0), np.nan)
