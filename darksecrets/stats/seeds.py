"""Scores over seeds and examples: intervals and paired tests of their means.

A score varies with the examples and with the seed of the model. Its variance is the sum of both
parts: over examples, by a bootstrap that draws the same examples for all seeds; over seeds, by
their sample variance. The interval is that of Student's t with the degrees of freedom of the sum
(Satterthwaite 1946): close to normal where the examples dominate, and honestly wide where two or
three seeds disagree. With one seed, it covers the examples only. What depends on both, the examples
that one seed gets right and another does not, is in both parts: the interval is a little too wide
rather than too narrow.
"""

from __future__ import annotations

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
    from scipy.stats import t

    mean, seeds = float(values.mean()), len(values)
    of_seeds = float(values.var(ddof=1)) / seeds if seeds > 1 else 0.0
    variance = of_examples + of_seeds
    if variance == 0:
        return Mean(mean, mean, mean, float(mean == 0))
    freedom = (seeds - 1) * (variance / of_seeds) ** 2 if of_seeds > 0 else np.inf
    error = np.sqrt(variance)
    reach = float(t.ppf(1 - LEVEL / 2, freedom) * error)
    return Mean(mean, mean - reach, mean + reach, float(2 * t.sf(abs(mean) / error, freedom)))


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
