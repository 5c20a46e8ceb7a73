"""Scores over seeds and examples: intervals and paired tests of their means.

A score varies with the examples and with the seed of the model. Its variance is the sum of both
parts: over examples, by a bootstrap that draws the same examples for all seeds; over seeds, by
their sample variance. The critical value is the mean of the normal one and of Student's t, weighted
by the two parts (Cochran and Cox 1957). Where the examples dominate, it is close to normal; where
two or three seeds disagree, the interval is as wide as so few seeds demand. A part that depends on
both, examples that one seed gets right and another does not, counts twice: the interval is a little
too wide rather than too narrow.

With one seed, intervals and tests cover the examples only: they are about the models at hand, not
about what other seeds would give.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from darksecrets.stats import LEVEL
from darksecrets.stats.permutation import ROUNDING
from darksecrets.stats.resampling import bootstrap_weights
from darksecrets.stats.weighted import Weighted

Floats = npt.NDArray[np.float64]

_BLOCK = 2**22  # largest number of elements in a block of swaps
_LEAST = -500.0  # logarithm of the smallest p-value


@dataclass(frozen=True)
class Mean:
    """A mean over seeds, with its interval and test; fractions.

    Attributes:
        mean: The mean.
        low: Lower end of the interval.
        high: Upper end.
        p: Two-sided p-value of a mean of 0; 0 where nothing varies, 1 if the mean is 0, too.
    """

    mean: float
    low: float
    high: float
    p: float


def mean_over_seeds(values: Floats, of_examples: float) -> Mean:
    """Interval and test of a mean over seeds.

    Args:
        values: [seeds] a score, or a difference, on all examples.
        of_examples: Variance of the mean over seeds that comes from the examples.
    """
    mean, seeds = float(values.mean()), len(values)
    of_seeds = float(values.var(ddof=1)) / seeds if seeds > 1 else 0.0
    variance = of_examples + of_seeds
    if variance == 0:
        return Mean(mean, mean, mean, float(mean == 0))
    error, share = math.sqrt(variance), of_seeds / variance
    reach = _critical(LEVEL, share, seeds) * error
    return Mean(mean, mean - reach, mean + reach, _p_value(abs(mean) / error, share, seeds))


def _critical(level: float, share: float, seeds: int) -> float:
    """Two-sided critical value; ``share`` is the part of the variance that seeds make up."""
    from scipy.stats import norm, t

    normal = float(norm.isf(level / 2))
    return (1 - share) * normal + share * float(t.isf(level / 2, seeds - 1)) if share else normal


def _p_value(statistic: float, share: float, seeds: int) -> float:
    """The level whose critical value is the statistic."""
    from scipy.optimize import brentq

    def above(log_level: float) -> float:
        return _critical(math.exp(log_level), share, seeds) - statistic

    if above(_LEAST) <= 0:
        return math.exp(_LEAST)
    return math.exp(brentq(above, _LEAST, 0.0))


def resampled(score: Weighted, examples: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Scores on bootstrap samples of the examples, [resamples, sets]."""
    blocks = [score(weights) for weights in bootstrap_weights(resamples, examples, rng)]
    return np.concatenate(blocks)


def swaps(
    permutations: int, examples: int, rng: np.random.Generator
) -> Iterator[npt.NDArray[np.int64]]:
    """Draw which examples swap their predictions, in blocks of bounded memory.

    Yields:
        [at most ``permutations``, examples], 1 for a swap.
    """
    size = max(1, _BLOCK // examples)
    for start in range(0, permutations, size):
        yield rng.integers(2, size=(min(size, permutations - start), examples))


def swapped_differences(
    score: Weighted, examples: int, permutations: int, rng: np.random.Generator
) -> Floats:
    """Differences of two models' mean scores after swapping their predictions at random.

    An example's predictions are swapped for all seeds together, so the test is about examples.

    Args:
        score: Scores of sets that hold the predictions of the first model on all examples and then
            those of the second, one set for each seed; see `exchangeable`.
        examples: Number of examples.
        permutations: Number of random permutations.
        rng: Source of randomness.

    Returns:
        [1 + permutations] first − second; at first without any swap.
    """
    blocks = [np.zeros((1, examples), dtype=np.int64), *swaps(permutations, examples, rng)]
    differences = []
    for swap in blocks:
        first = score(np.concatenate([1 - swap, swap], axis=1)).mean(axis=1)
        second = score(np.concatenate([swap, 1 - swap], axis=1)).mean(axis=1)
        differences.append(first - second)
    return np.concatenate(differences)


def permutation_p(differences: Floats) -> float:
    """Two-sided p-value from [1 + permutations] differences, the observed one first."""
    size = np.abs(differences)
    return float(np.mean(size >= size[0] - ROUNDING))
