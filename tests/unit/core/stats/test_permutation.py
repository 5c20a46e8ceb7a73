"""Permutation tests against SciPy's, against all swaps one by one, and on null data."""

import itertools

import numpy as np
import pytest
import scipy.stats

from darksecrets.core.data.metrics import METRICS
from darksecrets.core.stats.correlation import standardized
from darksecrets.core.stats.permutation import (
    correlation_permutation,
    f1_permutation,
    mcnemar,
    nearer_within_groups,
)

f1 = METRICS["f1"].plain


def scaled(values, ranks):
    """Standardized values, or ranks of values for Spearman's correlation."""
    return standardized(scipy.stats.rankdata(values, axis=-1) if ranks else values)


def test_mcnemar_by_hand():
    # 5 examples won, 1 lost: 2 * (1 + 6) / 64
    right = np.array([[0, 0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 0, 1]], dtype=bool)
    assert mcnemar(right) == pytest.approx([1, 14 / 64], abs=1e-15)


def every_swap(first, second, gold):
    """p-value of F1's difference by scoring all swaps of predictions, one by one."""
    observed = abs(f1(second, gold) - f1(first, gold))
    extreme = []
    for swaps in itertools.product([False, True], repeat=len(gold)):
        one, other = np.where(swaps, second, first), np.where(swaps, first, second)
        extreme.append(abs(f1(other, gold) - f1(one, gold)) >= observed - 1e-12)
    return np.mean(extreme)


@pytest.mark.parametrize("seed", range(8))
def test_the_test_of_f1_sums_all_swaps_exactly(seed):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, 9)
    first, second = (np.where(rng.random(9) < 0.5, gold, rng.integers(0, 2, 9)) for _ in "ab")
    found = f1_permutation(first == 1, second == 1, gold == 1)
    assert found == pytest.approx(every_swap(first, second, gold), abs=1e-12)


@pytest.mark.parametrize("first", [0, 1])
def test_the_test_of_f1_if_a_model_predicts_a_single_class(first):
    gold = np.array([1, 1, 0, 0, 1, 0, 1, 0])
    one, other = np.full(8, first), np.array([1, 0, 0, 1, 1, 0, 1, 0])
    found = f1_permutation(one == 1, other == 1, gold == 1)
    assert found == pytest.approx(every_swap(one, other, gold), abs=1e-12)
    assert f1_permutation(one == 1, one == 1, gold == 1) == 1.0


def test_the_test_of_f1_agrees_with_scipys_on_many_examples():
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 2, 600)
    first = np.where(rng.random(600) < 0.8, gold, 1 - gold)
    second = np.where(rng.random(600) < 0.02, 1 - first, first)
    found = f1_permutation(first == 1, second == 1, gold == 1)
    reference = scipy.stats.permutation_test(
        (first, second),
        lambda a, b: f1(b, gold) - f1(a, gold),
        permutation_type="samples",
        n_resamples=4000,
        rng=np.random.default_rng(4),
    ).pvalue
    assert 0.001 < found < 0.9
    assert found == pytest.approx(reference, abs=4 * np.sqrt(found * (1 - found) / 4000))


def test_a_great_difference_has_a_small_p_value_that_is_not_0():
    gold = np.arange(20_000) % 2 == 1
    assert 0 < f1_permutation(gold, ~gold, gold) < 1e-20


def ratings(sets: int, examples: int, changed: float = 1.0):
    """Predictions of labels from 0 to 5 in quarters, with different errors in every set."""
    rng = np.random.default_rng(0)
    labels = np.round(rng.uniform(0, 5, examples) * 4) / 4
    shared = labels + rng.normal(size=examples)
    return shared + changed * rng.normal(size=(sets, examples)), labels


@pytest.mark.parametrize("ranks", [False, True], ids=["pearson", "spearman"])
def test_the_test_of_correlations_agrees_with_all_swaps(ranks):
    predictions, labels = (scaled(values, ranks) for values in ratings(6, 10))
    rng = np.random.default_rng(0)
    found = correlation_permutation(predictions, labels, 20_000, rng)
    for number in range(1, len(predictions)):
        exact = scipy.stats.permutation_test(
            (predictions[0], predictions[number]),
            lambda a, b: np.corrcoef(b, labels)[0, 1] - np.corrcoef(a, labels)[0, 1],
            permutation_type="samples",
            n_resamples=np.inf,
        ).pvalue
        assert found[number] == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))
    assert found[0] == 1


@pytest.mark.parametrize("ranks", [False, True], ids=["pearson", "spearman"])
def test_a_shift_and_a_scale_of_predictions_are_no_difference(ranks):
    predictions, labels = ratings(1, 40)
    exact = np.round(predictions[0] * 64)  # so that nothing is rounded
    moved = scaled(np.stack([exact, 4 * exact + 8, exact / 2 - 4]), ranks)
    labels = scaled(labels, ranks)
    p = correlation_permutation(moved, labels, 200, np.random.default_rng(0))
    assert (p == 1).all()


def test_nearness_within_groups_is_tested_exactly():
    """Against all assignments of six items to three groups of two."""
    rng = np.random.default_rng(0)
    places = rng.uniform(size=(6, 2))
    distances = np.linalg.norm(places[:, None] - places, axis=-1)
    groups = np.array([0, 0, 1, 1, 2, 2])

    def within(order: tuple[int, ...]) -> float:
        return sum(distances[order[i], order[i + 1]] for i in (0, 2, 4))

    found = within((0, 1, 2, 3, 4, 5))
    exact = np.mean([within(order) <= found + 1e-12 for order in itertools.permutations(range(6))])
    p = nearer_within_groups(distances, groups, 20_000, rng)
    # Four standard errors of a share of 20,000 draws.
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    assert 0.05 < exact < 0.95
