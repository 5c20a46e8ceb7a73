"""Means over seeds and examples: error rate, coverage, power, and plain computations."""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm, t, ttest_1samp
from sklearn.metrics import accuracy_score, f1_score

from darksecrets.core.stats import classification
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.permutation import (
    f1_permutation,
    mcnemar,
    permutation_p,
    swapped_differences,
)
from darksecrets.core.stats.seeds import critical_value, degrees_of_freedom, mean_over_seeds
from darksecrets.core.stats.weighted import Weighted, class_score, resampled


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("of_examples", [0.0, 0.3, 2.0])
def test_the_interval_weights_both_critical_values(seeds, of_examples):
    values = np.random.default_rng(seeds).normal(1.0, 1.0, seeds)
    found = mean_over_seeds(values, of_examples)
    of_seeds = sum((v - values.mean()) ** 2 for v in values) / (seeds - 1) / seeds
    total = of_examples + of_seeds
    critical = (of_examples * norm.ppf(0.975) + of_seeds * t.ppf(0.975, seeds - 1)) / total
    assert found.mean == pytest.approx(values.mean())
    assert found.high - found.mean == pytest.approx(critical * np.sqrt(total))
    assert found.mean - found.low == pytest.approx(critical * np.sqrt(total))
    # The p-value is 0.05 exactly where the interval ends at 0.
    shifted = mean_over_seeds(values - found.low, of_examples)
    assert shifted.p == pytest.approx(0.05, rel=1e-6)


def test_without_one_part_the_other_is_alone():
    values = np.array([0.2, 0.5, 0.6])
    found = mean_over_seeds(values, 0.0)
    assert (found.low, found.high) == pytest.approx(
        t.interval(0.95, 2, values.mean(), values.std(ddof=1) / np.sqrt(3))
    )
    found = mean_over_seeds(values[:1], 0.01)
    assert (found.low, found.high) == pytest.approx(norm.interval(0.95, 0.2, 0.1))
    assert found.p == pytest.approx(2 * norm.sf(2))
    assert mean_over_seeds(np.array([0.0, 0.0]), 0.0).p == 1
    assert mean_over_seeds(np.array([0.5, 0.5]), 0.0).p == 0
    assert 0 < mean_over_seeds(np.array([500.0]), 1e-6).p < 1e-200


def test_a_critical_value_of_more_parts_weights_them_all():
    found = critical_value(0.05, (1.0, math.inf), (2.0, 7), (3.0, 1), (0.0, 0))
    expected = (norm.ppf(0.975) + 2 * t.ppf(0.975, 7) + 3 * t.ppf(0.975, 1)) / 6
    assert found == pytest.approx(expected)
    assert critical_value(0.05) == pytest.approx(1.959964)


def swaps_of(first: np.ndarray, second: np.ndarray, labels: np.ndarray, metric: str) -> Weighted:
    score = {"accuracy": classification.accuracy, "f1": classification.f1}[metric]
    return class_score(score, np.concatenate([first, second], axis=1), np.tile(labels, 2))


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_swaps_are_those_of_a_plain_loop_over_all_of_them(metric):
    """The share of all 2^8 swaps that are at least as extreme, scored by scikit-learn."""
    rng = np.random.default_rng(2)
    labels = rng.integers(2, size=8)
    first, second = (rng.integers(2, size=(2, 8)) for _ in range(2))
    plain = {"accuracy": accuracy_score, "f1": lambda y, p: f1_score(y, p, zero_division=0)}[metric]
    differences = []
    for swap in itertools.product([False, True], repeat=8):
        one, other = np.where(swap, second, first), np.where(swap, first, second)
        scores = [np.mean([plain(labels, row) for row in side]) for side in (one, other)]
        differences.append(scores[0] - scores[1])
    size = np.abs(differences)
    exact = np.mean(size >= size[0] - 1e-12)
    score = swaps_of(first, second, labels, metric)
    found = swapped_differences(score, np.arange(8), 20000, np.random.default_rng(0))
    assert found[0] == pytest.approx(differences[0])
    # Five standard errors of 20000 random swaps.
    assert permutation_p(found) == pytest.approx(exact, abs=0.018)


def test_with_one_seed_swaps_give_mcnemars_test_and_the_exact_test_of_f1():
    rng = np.random.default_rng(3)
    labels = rng.integers(2, size=60)
    first = np.where(rng.random(60) < 0.8, labels, 1 - labels)
    second = np.where(rng.random(60) < 0.65, labels, 1 - labels)
    exact = {
        "accuracy": mcnemar(np.array([second == labels, first == labels]))[1],
        "f1": f1_permutation(second == 1, first == 1, labels == 1),
    }
    for metric, p in exact.items():
        score = swaps_of(first[None], second[None], labels, metric)
        found = permutation_p(
            swapped_differences(score, np.arange(60), 20000, np.random.default_rng(0))
        )
        assert found == pytest.approx(p, abs=0.018)


def trial(rng: np.random.Generator, seeds: int, spread: float, gain: float) -> tuple[float, bool]:
    """P-value of the difference of two models, and whether its interval covers ``gain`` = 0.

    Examples differ in difficulty, and seeds in skill.
    """
    examples = 120
    easy = rng.normal(0.8, 1.5, examples)
    labels = np.ones(examples, dtype=np.int64)

    def predict(shift: float) -> np.ndarray:
        skill = easy + shift + rng.normal(0, spread, seeds)[:, None]
        return (rng.random(skill.shape) < 1 / (1 + np.exp(-skill))).astype(np.int64)

    first, second = predict(gain), predict(0.0)
    score = class_score(classification.accuracy, np.concatenate([first, second]), labels)
    drawn = resampled(score, np.arange(examples), 200, rng)
    difference = drawn[:, :seeds].mean(axis=1) - drawn[:, seeds:].mean(axis=1)
    mean = mean_over_seeds(
        (first.mean(axis=1) - second.mean(axis=1)), float(difference.var(ddof=1))
    )
    swapped = swapped_differences(
        swaps_of(first, second, labels, "accuracy"), np.arange(examples), 200, rng
    )
    return max(mean.p, permutation_p(swapped)), mean.low <= 0 <= mean.high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seeds", "spread"), [(1, 0.0), (2, 0.0), (2, 0.5), (3, 0.2), (3, 0.5), (5, 0.5)]
)
def test_equal_models_differ_no_more_often_than_stated(seeds, spread):
    rng = np.random.default_rng(11)
    results = [trial(rng, seeds, spread, 0.0) for _ in range(300)]
    # 0.05 and three standard errors of 300 trials.
    assert np.mean([p < 0.05 for p, _ in results]) < 0.088
    assert np.mean([covered for _, covered in results]) > 0.912


@pytest.mark.parametrize(
    ("seeds", "spread", "power"), [(1, 0.0, 0.9), (3, 0.1, 0.9), (5, 0.3, 0.9)]
)
def test_better_models_are_found(seeds, spread, power):
    rng = np.random.default_rng(12)
    assert np.mean([trial(rng, seeds, spread, 2.0)[0] < 0.05 for _ in range(60)]) > power


# --- A family of means ------------------------------------------------------------------------

family = functools.partial(mean_over_seeds, family=True)


def test_equal_seeds_leave_the_variance_of_the_examples():
    values = np.array([[0.3, -2.0], [0.3, -2.0]])
    found = family(values, np.array([0.04, 1.0]))
    assert found.mean == pytest.approx([0.3, -2.0])
    assert found.p == pytest.approx(2 * norm.sf([1.5, 2.0]), rel=1e-9)
    assert found.low == pytest.approx(np.array([0.3, -2.0]) - 1.959964 * np.array([0.2, 1.0]))
    assert found.of_seeds.tolist() == [0, 0]


def test_without_noise_of_examples_it_is_students_t_over_seeds():
    values = np.array([[1.0], [2.5], [2.2]])
    found = family(values, np.zeros(1))
    expected = ttest_1samp(values[:, 0], 0.0)
    assert found.p[0] == pytest.approx(expected.pvalue)
    assert degrees_of_freedom(found.of_seeds, 3) == pytest.approx([2])
    interval = expected.confidence_interval(0.95)
    assert (found.low[0], found.high[0]) == pytest.approx((interval.low, interval.high))


def test_a_variance_that_is_small_by_chance_is_raised_to_the_mean_of_all():
    values = np.array([[1.0, 0.0], [1.0, 4.0]])
    found = family(values, np.full(2, 1e-12))
    assert found.high[0] - found.mean[0] == pytest.approx(t.ppf(0.975, 1) * np.sqrt(4 / 2))


def test_a_set_that_changes_nothing_has_no_effect():
    found = family(np.zeros((2, 3)), np.zeros(3))
    assert found.p.tolist() == [1, 1, 1]
    assert (found.low == 0).all()
    assert (found.high == 0).all()


SPREADS = {
    "none": np.zeros(72),
    "that of the examples": np.ones(72),
    "five times that of the examples": np.full(72, 5.0),
    "great for some heads": np.where(np.arange(72) < 14, 4.0, 0.5),
    "shared by all heads": np.full(1, 3.0),
}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("seeds", [2, 3])
def test_effects_that_only_differ_between_seeds_are_not_significant(seeds, spread):
    """Examples give each seed noise of variance 1, a fifth of which all seeds share."""
    rng, runs = np.random.default_rng(seeds), 300
    rates, families = [], []
    for _ in range(runs):
        noise = np.sqrt(0.2) * rng.normal(size=72) + np.sqrt(0.8) * rng.normal(size=(seeds, 72))
        values = noise + SPREADS[spread] * rng.normal(size=(seeds, len(SPREADS[spread])))
        p = family(values, np.full(72, 0.2 + 0.8 / seeds)).p
        rates.append((p < 0.05).mean())
        families.append((benjamini_hochberg(p) < 0.05).any())
    assert np.mean(rates) < 0.05
    assert np.mean(families) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def test_an_effect_of_all_seeds_is_found():
    """The test can fail: the one head with an effect of six standard errors is significant."""
    rng, found = np.random.default_rng(0), []
    for _ in range(100):
        values = rng.normal(size=(3, 72)) + 1.0 * (np.arange(72) == 0) * 6
        result = family(values, np.full(72, 1 / 3))
        found.append(benjamini_hochberg(result.p)[0] < 0.05)
    assert np.mean(found) > 0.7
