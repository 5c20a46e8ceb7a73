"""Permutation tests: paired ones of two models' scores, and one of groups of heads.

Those of scores are two-sided and share one null hypothesis: for every example, the predictions of
the two models are exchangeable. For accuracy this is McNemar's exact test. For F1, the distribution
has so few values that it is summed exactly, too. All other scores use random permutations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from darksecrets.core.arrays import Flags, Floats, Integers
from darksecrets.core.stats.classification import Counts, Score, classes_of, count
from darksecrets.core.stats.correlation import correlation
from darksecrets.core.stats.resampling import blocks
from darksecrets.core.stats.units import count_units
from darksecrets.core.stats.weighted import Weighted

ROUNDING = 1e-12  # differences of scores closer than this count as equal

_DEVIATIONS = 10  # standard deviations of a binomial; the mass beyond is below 4 * exp(-50)
_REMAINDER = 4 * math.exp(-(_DEVIATIONS**2) / 2)


def mcnemar(right: Flags) -> Floats:
    """McNemar's exact test of accuracies: a two-sided binomial test of examples won and lost.

    Args:
        right: [sets, examples], whether the prediction is correct; the first set is the baseline.

    Returns:
        [sets] p-values.
    """
    won, lost = (right & ~right[0]).sum(axis=1), (~right & right[0]).sum(axis=1)
    tail = binom.cdf(np.minimum(won, lost), won + lost, 0.5)
    return np.minimum(1.0, 2 * tail)


def f1_permutation(first: Flags, second: Flags, gold: Flags) -> float:
    """Exact paired permutation test of the difference of two F1 scores.

    Only examples on which the models differ matter. If their predictions are swapped at random, the
    first model gets a binomial number of the positive predictions among examples of class 1, and
    another among the rest; the second model gets the others. These two numbers determine the
    difference, and the p-value is summed over all pairs of them.

    Args:
        first: [examples], whether the first model predicts class 1.
        second: [examples], whether the second model does.
        gold: [examples], whether class 1 is correct.

    Returns:
        The p-value, exact up to an added mass below 1e-21.
    """
    kinds = (gold, ~gold)
    kept, differ = first & second, first ^ second
    agreed = [int((kept & kind).sum()) for kind in kinds]
    at_stake = [int((differ & kind).sum()) for kind in kinds]

    def difference(hits: Integers, misses: Integers) -> Floats:
        """F1 of the second minus the first, if the first gets these examples at stake."""
        rest = _f1(agreed[0] + at_stake[0] - hits, agreed[1] + at_stake[1] - misses, gold)
        return rest - _f1(agreed[0] + hits, agreed[1] + misses, gold)

    (hits, hit_mass), (misses, miss_mass) = (_binomial(count) for count in at_stake)
    mine = [np.array((first & differ & kind).sum()) for kind in kinds]
    observed = difference(mine[0], mine[1])
    extreme = np.abs(difference(hits[:, None], misses)) >= np.abs(observed) - ROUNDING
    return min(1.0, float(hit_mass @ extreme @ miss_mass) + _REMAINDER)


def _f1(hits: Integers, misses: Integers, gold: Flags) -> Floats:
    """F1 from the numbers of correct and wrong predictions of class 1."""
    return 2 * hits / np.maximum(hits + misses + gold.sum(), 1)


def _binomial(count: int) -> tuple[Integers, Floats]:
    """Values of a fair binomial within ten standard deviations, with their probabilities."""
    reach = math.ceil(_DEVIATIONS * math.sqrt(count) / 2)
    values = np.arange(max(0, count // 2 - reach), min(count, count // 2 + 1 + reach) + 1)
    return values, binom.pmf(values, count, 0.5)


def classes_permutation(
    predictions: npt.NDArray[np.integer],
    labels: npt.NDArray[np.integer],
    score: Score,
    permutations: int,
    rng: np.random.Generator,
) -> Floats:
    """Paired permutation test of the difference of any score of classes.

    Examples with the same label and the same two predictions are interchangeable, so a permutation
    is a binomial number of swaps in each group of them.

    Args:
        predictions: [sets, examples] numbers of classes; the first set is the baseline.
        labels: [examples] numbers of classes.
        score: A function of `darksecrets.core.stats.classification`.
        permutations: Number of permutations.
        rng: Random number generator.

    Returns:
        [sets] p-values, (1 + permutations at least as extreme) / (1 + permutations).
    """
    classes = classes_of(predictions, labels)
    counts = [count(row, labels, classes) for row in predictions]
    p = np.ones(len(predictions))
    for number, row in enumerate(predictions):
        apart = row != predictions[0]
        triples = np.stack([labels[apart], predictions[0, apart], row[apart]])
        (gold, first, second), sizes = np.unique(triples, axis=1, return_counts=True)
        # What one swap adds to the counts of the first model and takes from those of the second.
        predicted = np.eye(classes)[second] - np.eye(classes)[first]
        hits = predicted * np.eye(classes)[gold]

        def differences(
            swaps: Integers,
            pair: tuple[Counts, Counts] = (counts[0], counts[number]),
            changes: tuple[Floats, Floats] = (hits, predicted),
        ) -> Floats:
            """Absolute differences, [swaps.shape[0]], after numbers of swaps [..., groups]."""
            moved = [swaps @ change for change in changes]
            scores = [
                score(
                    Counts(c.hits + s * moved[0], c.predicted + s * moved[1], c.gold + 0 * moved[0])
                )
                for c, s in zip(pair, (1, -1), strict=True)
            ]
            return np.abs(scores[1] - scores[0])

        observed, extreme = differences(np.zeros((1, len(sizes)), dtype=np.int64)), 1
        for rows in blocks(permutations, max(len(sizes), classes)):
            drawn = differences(rng.binomial(sizes, 0.5, size=(rows, len(sizes))))
            extreme += int((drawn >= observed - ROUNDING).sum())
        p[number] = extreme / (permutations + 1)
    return p


def sign_permutation(changes: Floats, permutations: int, rng: np.random.Generator) -> Floats:
    """Paired permutation test of a mean over examples; all sets share the swaps.

    Two-sided; `paired.sign_flips` is one-sided.

    Args:
        changes: [sets, examples] difference to the baseline of an example's part in the mean;
            swapping the two predictions changes its sign.
        permutations: Number of permutations.
        rng: Random number generator.

    Returns:
        [sets] p-values, (1 + permutations at least as extreme) / (1 + permutations).
    """
    scale = np.abs(changes).sum(axis=1)
    observed, extreme = np.abs(changes.sum(axis=1)) - ROUNDING * scale, np.ones(len(changes))
    for rows in blocks(permutations, changes.shape[1]):
        signs = 1.0 - 2.0 * (rng.random((rows, changes.shape[1])) < 0.5)
        extreme += (np.abs(signs @ changes.T) >= observed).sum(axis=0)
    return extreme / (permutations + 1)


def correlation_permutation(
    predictions: Floats, labels: Floats, permutations: int, rng: np.random.Generator
) -> Floats:
    """Paired permutation test of the difference of two correlations; all sets share the swaps.

    Predictions are standardized before they are swapped, because a correlation does not depend on
    their scale, and a shift of a model is no reason to reject. Ranks are taken once, before.

    Args:
        predictions: [sets, examples], standardized; the first set is the baseline.
        labels: [examples], standardized.
        permutations: Number of permutations.
        rng: Random number generator.

    Returns:
        [sets] p-values, (1 + permutations at least as extreme) / (1 + permutations).
    """
    sets, examples = predictions.shape
    products, squares = predictions * labels, predictions**2
    changes = [(values - values[0]).T / examples for values in (products, squares, predictions)]
    means, ones = [values.mean(axis=1) for values in (products, squares)], np.ones(sets)

    def differences(swaps: Floats) -> Floats:
        """Absolute differences of the correlations, [swaps, sets]; 1 marks swapped examples."""
        product, square, shift = (swaps @ change for change in changes)
        first = correlation(means[0][0] + product, means[1][0] + square - shift**2, ones)
        second = correlation(means[0] - product, means[1] - square - shift**2, ones)
        return np.abs(second - first)

    observed, extreme = differences(np.zeros((1, examples))), np.ones(sets)
    for rows in blocks(permutations, examples):
        swaps = rng.random((rows, examples)) < 0.5
        extreme += (differences(swaps.astype(np.float64)) >= observed - ROUNDING).sum(axis=0)
    return extreme / (permutations + 1)


def swaps(permutations: int, examples: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Draw which examples swap their predictions, in blocks of bounded memory.

    Yields:
        [at most ``permutations``, examples], 1 for a swap.
    """
    for rows in blocks(permutations, examples):
        yield rng.integers(2, size=(rows, examples))


def swapped_differences(
    score: Weighted, units: Integers, permutations: int, rng: np.random.Generator
) -> Floats:
    """Differences of two models' mean scores after swapping their predictions at random.

    A unit's predictions are swapped for all seeds together, so the test is about units.

    Args:
        score: Scores of sets that hold the predictions of the first model on all examples and then
            those of the second, one set for each seed.
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
        permutations: Number of random permutations.
        rng: Source of randomness.

    Returns:
        [1 + permutations] first − second; at first without any swap.
    """
    count = count_units(units)
    blocks = [np.zeros((1, count), dtype=np.int64), *swaps(permutations, count, rng)]
    differences = []
    for swap in (of_units[:, units] for of_units in blocks):
        first = score(np.concatenate([1 - swap, swap], axis=1)).mean(axis=1)
        second = score(np.concatenate([swap, 1 - swap], axis=1)).mean(axis=1)
        differences.append(first - second)
    return np.concatenate(differences)


def permutation_p(differences: Floats) -> float:
    """Two-sided p-value from [1 + permutations] differences, the observed one first."""
    size = np.abs(differences)
    return float(np.mean(size >= size[0] - ROUNDING))


def nearer_within_groups(
    distances: Floats, groups: Integers, permutations: int, rng: np.random.Generator
) -> float:
    """Test whether items of one group are nearer to each other than random items are.

    The null hypothesis is that groups were assigned to the items at random. One-sided.

    Args:
        distances: [items, items], symmetric.
        groups: [items] number of each item's group, from 0.
        permutations: Number of random assignments, in groups of the same sizes.
        rng: Random number generator.

    Returns:
        The p-value, (1 + assignments at least as near) / (1 + permutations).
    """
    members = np.eye(int(groups.max()) + 1)[groups]

    def within(of_group: Floats) -> Floats:
        """Sum of the distances within groups; their number is the same for all assignments."""
        return np.asarray(((distances @ of_group) * of_group).sum())

    observed = within(members) + ROUNDING * np.abs(distances).sum()
    near = sum(within(rng.permutation(members)) <= observed for _ in range(permutations))
    return float((1 + near) / (1 + permutations))
