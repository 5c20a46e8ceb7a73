"""Permutation tests: paired ones of two models' scores, and one against random placements.

The paired tests share one null hypothesis: for every example, the predictions of the two models
may change places. They are two-sided. For accuracy that is McNemar's exact test; for F1 the
distribution has few enough values to be summed exactly, too; correlations take random permutations.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from darksecrets.stats.correlation import correlation

Floats = npt.NDArray[np.float64]

ROUNDING = 1e-12  # differences of scores that are closer than this are the same

_DEVIATIONS = 10  # of a binomial; what lies beyond has a mass below 4 * exp(-50)
_REMAINDER = 4 * math.exp(-(_DEVIATIONS**2) / 2)
_BLOCK = 2**22  # numbers of a matrix of random permutations


def mcnemar(right: npt.NDArray[np.bool_]) -> Floats:
    """McNemar's exact test of accuracies: a two-sided binomial test of examples won and lost.

    Args:
        right: [sets, examples], whether the prediction is right; the first set is the baseline.

    Returns:
        [sets] p-values.
    """
    won, lost = (right & ~right[0]).sum(axis=1), (~right & right[0]).sum(axis=1)
    tail = binom.cdf(np.minimum(won, lost), won + lost, 0.5)
    p: Floats = np.minimum(1.0, 2 * tail)
    return p


def f1_permutation(
    first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_], gold: npt.NDArray[np.bool_]
) -> float:
    """Exact paired permutation test of the difference of two F1 scores.

    Only examples on which the models differ matter. When predictions change places at random, the
    first model gets a binomial number of the positive predictions among those of class 1, and
    another among the rest; the second model gets what is left. The two numbers decide the
    difference, and every pair of them is summed up.

    Args:
        first: [examples], whether class 1 is predicted.
        second: Likewise by the other model.
        gold: [examples], whether class 1 is right.

    Returns:
        The p-value, exact but for a mass below 1e-21 that is added.
    """
    kinds = (gold, ~gold)
    kept, differ = first & second, first ^ second
    agreed = [int((kept & kind).sum()) for kind in kinds]
    at_stake = [int((differ & kind).sum()) for kind in kinds]

    def difference(hits: npt.NDArray[np.int64], misses: npt.NDArray[np.int64]) -> Floats:
        """Of the F1 of both models, when the first has so many of the examples at stake."""
        rest = _f1(agreed[0] + at_stake[0] - hits, agreed[1] + at_stake[1] - misses, gold)
        return rest - _f1(agreed[0] + hits, agreed[1] + misses, gold)

    (hits, hit_mass), (misses, miss_mass) = (_binomial(count) for count in at_stake)
    mine = [np.array((first & differ & kind).sum()) for kind in kinds]
    observed = difference(mine[0], mine[1])
    extreme = np.abs(difference(hits[:, None], misses)) >= np.abs(observed) - ROUNDING
    return min(1.0, float(hit_mass @ extreme @ miss_mass) + _REMAINDER)


def _f1(
    hits: npt.NDArray[np.int64], misses: npt.NDArray[np.int64], gold: npt.NDArray[np.bool_]
) -> Floats:
    """F1 from the numbers of right and wrong predictions of class 1."""
    positives: Floats = 2 * hits / np.maximum(hits + misses + gold.sum(), 1)
    return positives


def _binomial(count: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Values of a fair binomial within ten standard deviations, and their probabilities."""
    reach = math.ceil(_DEVIATIONS * math.sqrt(count) / 2)
    values = np.arange(max(0, count // 2 - reach), min(count, count // 2 + 1 + reach) + 1)
    return values, binom.pmf(values, count, 0.5)


def correlation_permutation(
    predictions: Floats, labels: Floats, permutations: int, rng: np.random.Generator
) -> Floats:
    """Paired permutation test of the difference of two correlations, the same swaps for all sets.

    Predictions are standardized before they change places, because a correlation does not depend
    on their scale, and a model's shift is no reason to reject; ranks are taken once, before.

    Args:
        predictions: [sets, examples], standardized; the first set is the baseline.
        labels: [examples], standardized.
        permutations: How many.
        rng: Source of randomness.

    Returns:
        [sets] p-values, (1 + permutations at least as extreme) / (1 + permutations).
    """
    sets, examples = predictions.shape
    products, squares = predictions * labels, predictions**2
    changes = [(values - values[0]).T / examples for values in (products, squares, predictions)]
    means, ones = [values.mean(axis=1) for values in (products, squares)], np.ones(sets)

    def differences(swaps: Floats) -> Floats:
        """Of the correlations, [swaps, sets], when the examples marked 1 have changed places."""
        product, square, shift = (swaps @ change for change in changes)
        first = correlation(means[0][0] + product, means[1][0] + square - shift**2, ones)
        second = correlation(means[0] - product, means[1] - square - shift**2, ones)
        return np.abs(second - first)

    observed, extreme = differences(np.zeros((1, examples))), np.ones(sets)
    size = max(1, _BLOCK // examples)
    for start in range(0, permutations, size):
        swaps = rng.random((min(size, permutations - start), examples)) < 0.5
        extreme += (differences(swaps.astype(np.float64)) >= observed - ROUNDING).sum(axis=0)
    return extreme / (permutations + 1)


def upper_p_values(drawn: Floats) -> Floats:
    """One-sided permutation test: is the observed statistic greater than under random placement?

    The observed placement is one of the possible ones and counts as one, so that the test is exact
    (Phipson and Smyth 2010).

    Args:
        drawn: [1 + draws, ...] statistics; the first are the observed ones.

    Returns:
        [...] p-values, at least 1 / (1 + draws).
    """
    p: Floats = (drawn >= drawn[0]).mean(axis=0)
    return p
