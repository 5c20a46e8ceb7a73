"""Paired tests against SciPy's, and against what a test must do when there is nothing to find."""

import dataclasses
import itertools

import numpy as np
import pytest
import scipy.stats
from sweeps import sweep

from darksecrets.ablation.paired_tests import (
    correlation_permutation,
    f1_permutation,
    mcnemar,
    p_values,
)
from darksecrets.ablation.scores import standardized
from darksecrets.data.metrics import f1


@pytest.mark.parametrize("task", ["RTE", "MNLI"])
def test_mcnemar_is_the_binomial_test_of_examples_won_and_lost(task):
    result = sweep(task, examples=60, changed=0.3)
    found = p_values(result, "accuracy", 0, np.random.default_rng(0))
    right = result.predictions == result.labels
    for number, p in enumerate(found):
        won, lost = sum(right[number] & ~right[0]), sum(right[0] & ~right[number])
        expected = scipy.stats.binomtest(int(won), int(won + lost)).pvalue if won + lost else 1.0
        assert p == pytest.approx(expected, abs=1e-12)
    assert found[0] == 1
    assert len(set(found)) > 3


def test_mcnemar_by_hand():
    # 5 examples won, 1 lost: 2 * (1 + 6) / 64
    right = np.array([[0, 0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 0, 1]], dtype=bool)
    assert mcnemar(right) == pytest.approx([1, 14 / 64], abs=1e-15)


def every_swap(first, second, gold):
    """p-value of F1's difference by scoring all exchanges of predictions, one after the other."""
    observed = abs(f1(second, gold) - f1(first, gold))
    extreme = []
    for swaps in itertools.product([False, True], repeat=len(gold)):
        one, other = np.where(swaps, second, first), np.where(swaps, first, second)
        extreme.append(abs(f1(other, gold) - f1(one, gold)) >= observed - 1e-12)
    return np.mean(extreme)


@pytest.mark.parametrize("seed", range(8))
def test_the_test_of_f1_sums_all_exchanges_exactly(seed):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, 9)
    first, second = (np.where(rng.random(9) < 0.5, gold, rng.integers(0, 2, 9)) for _ in "ab")
    found = f1_permutation(first == 1, second == 1, gold == 1)
    assert found == pytest.approx(every_swap(first, second, gold), abs=1e-12)


@pytest.mark.parametrize("first", [0, 1])
def test_the_test_of_f1_where_a_model_knows_one_class_only(first):
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


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_the_test_of_correlations_agrees_with_all_exchanges(metric):
    result = sweep("STS-B", examples=10, changed=1.0)
    found = p_values(result, metric, 20_000, np.random.default_rng(0))
    predictions, labels = standardized(result, metric)
    for number in range(1, len(predictions)):
        exact = scipy.stats.permutation_test(
            (predictions[0], predictions[number]),
            lambda a, b: np.corrcoef(b, labels)[0, 1] - np.corrcoef(a, labels)[0, 1],
            permutation_type="samples",
            n_resamples=np.inf,
        ).pvalue
        assert found[number] == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))
    assert found[0] == 1


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_a_shift_and_a_scale_of_predictions_are_no_difference(metric):
    result = sweep("STS-B", layers=1, heads=1)
    exact = np.round(result.predictions[0].astype(np.float64) * 64)  # so that nothing is rounded
    moved = dataclasses.replace(result, predictions=np.stack([exact, 4 * exact + 8, exact / 2 - 4]))
    predictions, labels = standardized(moved, metric)
    p = correlation_permutation(predictions, labels, 200, np.random.default_rng(0))
    assert (p == 1).all()


@pytest.mark.parametrize(
    ("task", "metric"),
    [("RTE", "accuracy"), ("MRPC", "f1"), ("STS-B", "pearson"), ("STS-B", "spearman")],
)
def test_where_nothing_differs_small_p_values_are_as_rare_as_they_say(task, metric):
    p = [
        p_values(
            sweep(task, examples=80, layers=1, heads=1, seed=seed, changed=0.4),
            metric,
            199,
            np.random.default_rng(seed),
        )[1]
        for seed in range(500)
    ]
    for level in (0.05, 0.2, 0.5):  # a discrete p-value may be below the level more rarely
        assert np.mean(np.array(p) <= level) < level + 3 * np.sqrt(level * (1 - level) / 500)
    if task == "STS-B":
        assert scipy.stats.kstest(p, "uniform").pvalue > 0.001
