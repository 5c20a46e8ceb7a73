"""Means over two crossed factors: a few fine-tuning seeds, and the examples that all of them share.

Examples are many, so that a bootstrap tells how much they contribute to the variance of a mean.
Seeds are few: a bootstrap of two seeds would call every effect significant that differs between
seeds but has the same sign in both, which is half of those whose mean is 0. Therefore the variance
of seeds is estimated from the seeds, and Student's t allows for how little is known of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from darksecrets.stats import LEVEL

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CrossedMeans:
    """Means over the seeds and examples that might have been drawn.

    Attributes:
        mean: [tests].
        low: [tests] lower end of the interval.
        high: [tests] its upper end.
        p: [tests] two-sided p-value of a mean of 0; 1 where nothing varies and the mean is 0.
        df: [tests] degrees of freedom.
        spread: [tests] standard deviation over seeds.
    """

    mean: Floats
    low: Floats
    high: Floats
    p: Floats
    df: Floats
    spread: Floats


def crossed_means(values: Floats, of_examples: Floats) -> CrossedMeans:
    """Estimate means over seeds and examples, and test whether they are 0.

    The variance of a mean is that of the examples plus s²/n of n seeds. This counts the interaction
    of seeds and examples twice, so that it is too great rather than too small (Owen 2007, the
    pigeonhole bootstrap). With two seeds, s² is close to 0 by chance in many of many tests;
    it is therefore at least its mean over the tests. Degrees of freedom are Satterthwaite's: n − 1
    where seeds dominate, many where examples do.

    Args:
        values: [seeds, tests] an effect for each seed; at least two seeds.
        of_examples: [tests] variance of the mean over these seeds that is due to examples.
    """
    from scipy.stats import t

    seeds = len(values)
    squares = values.var(axis=0, ddof=1)
    of_seeds = np.maximum(squares, squares.mean()) / seeds
    variance = of_examples + of_seeds
    varies = variance > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        df = np.where(of_seeds > 0, (seeds - 1) * (variance / of_seeds) ** 2, np.inf)
        mean, error = values.mean(axis=0), np.sqrt(variance)
        p = np.where(varies, 2 * t.sf(np.abs(mean) / error, df), np.where(mean == 0, 1.0, 0.0))
    reach = t.ppf(1 - LEVEL / 2, df) * error
    return CrossedMeans(mean, mean - reach, mean + reach, p, df, np.sqrt(squares))
