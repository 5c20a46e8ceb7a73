"""Components of variance of a two-way layout of random effects with one value per cell.

values[i, j] = mean + row i + column j + residual; the residual holds the interaction, too, which
one value per cell cannot tell apart. Estimators are those of the analysis of variance, which are
unbiased, and so may be negative where an effect is small: they are given as they are. Intervals
are by modified large samples (Ting, Burdick, Graybill, Jeyaratnam and Lu 1990) and F tests exact,
both for normal effects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from darksecrets.core.arrays import Floats
from darksecrets.core.stats import LEVEL

_ROUNDING = 1e-20  # a mean square this small a share of the squared values is 0


@dataclass(frozen=True)
class Component:
    """One component of the variance.

    Attributes:
        variance: Its unbiased estimate, which may be negative.
        low: Lower end of the interval of the variance, at least 0.
        high: Upper end, at least 0.
        degrees: Degrees of freedom of its mean square.
        p: p-value of no such effect; NaN for the residual, which has no test.
    """

    variance: float
    low: float
    high: float
    degrees: int
    p: float


def components(values: Floats) -> tuple[Component, Component, Component]:
    """Variances of rows, columns and the residual.

    Args:
        values: [rows, columns], two of each at least, none NaN.
    """
    rows, columns = values.shape
    mean = values.mean()
    row_effects, column_effects = values.mean(axis=1) - mean, values.mean(axis=0) - mean
    rest = values - mean - row_effects[:, None] - column_effects
    free = (rows - 1) * (columns - 1)
    squares = [
        columns * float((row_effects**2).sum()) / (rows - 1),
        rows * float((column_effects**2).sum()) / (columns - 1),
        float((rest**2).sum()) / free,
    ]
    least = _ROUNDING * float((values**2).mean())
    row, column, residual = (square if square > least else 0.0 for square in squares)
    return (
        _difference(row, rows - 1, residual, free, columns),
        _difference(column, columns - 1, residual, free, rows),
        _residual_component(residual, free),
    )


def _residual_component(square: float, free: int) -> Component:
    from scipy.stats import chi2

    low, high = (free * square / float(chi2.ppf(p, free)) for p in (1 - LEVEL / 2, LEVEL / 2))
    return Component(square, low, high, free, math.nan)


def _difference(square: float, free: int, rest: float, others: int, count: int) -> Component:
    """The component of rows or columns, (square − rest) / count.

    Args:
        square: Mean square of the effect.
        free: Its degrees of freedom.
        rest: Mean square of the residual.
        others: Its degrees of freedom.
        count: How many values each row, or column, has.
    """
    from scipy.stats import f

    if square == rest == 0:
        return Component(0.0, 0.0, 0.0, free, 1.0)
    p = float(f.sf(square / rest, free, others)) if rest else 0.0
    low, high = _ends(square, free, rest, others)
    variance = (square - rest) / count
    return Component(variance, max(0.0, low / count), max(0.0, high / count), free, p)


def _ends(one: float, free: int, other: float, others: int) -> tuple[float, float]:
    """Interval of the difference of two expected mean squares (Ting et al. 1990)."""
    difference = one - other
    below, above = _quantiles(free, others)
    (g_one, h_one), (g_other, h_other) = (
        (1 - 1 / high, 1 / low - 1) for high, low in (_quantiles(n, 1e9) for n in (free, others))
    )
    g_both = ((below - 1) ** 2 - (g_one * below) ** 2 - h_other**2) / below
    h_both = ((1 - above) ** 2 - (h_one * above) ** 2 - g_other**2) / above
    low = (g_one * one) ** 2 + (h_other * other) ** 2 + g_both * one * other
    high = (h_one * one) ** 2 + (g_other * other) ** 2 + h_both * one * other
    return difference - math.sqrt(max(0.0, low)), difference + math.sqrt(max(0.0, high))


@cache
def _quantiles(first: int, second: float) -> tuple[float, float]:
    """The values that F exceeds with little and with much probability."""
    from scipy.stats import f

    return float(f.isf(LEVEL / 2, first, second)), float(f.isf(1 - LEVEL / 2, first, second))
