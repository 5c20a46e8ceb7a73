"""Means over seeds and examples: error rate, coverage, power, and plain computations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import norm, t
from sklearn.metrics import accuracy_score, f1_score

from darksecrets.stats import classification
from darksecrets.stats.permutation import f1_permutation, mcnemar
from darksecrets.stats.seeds import (
    mean_over_seeds,
    permutation_p,
    resampled,
    swapped_differences,
)
from darksecrets.stats.weighted import Weighted, of_classes


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("of_examples", [0.0, 0.3, 2.0])
def test_the_interval_weights_both_critical_values(seeds: int, of_examples: float) -> None:
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


def test_without_one_part_the_other_is_alone() -> None:
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


def swaps_of(first: np.ndarray, second: np.ndarray, labels: np.ndarray, metric: str) -> Weighted:
    score = {"accuracy": classification.accuracy, "f1": classification.f1}[metric]
    return of_classes(score, np.concatenate([first, second], axis=1), np.tile(labels, 2))


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_swaps_are_those_of_a_plain_loop_over_all_of_them(metric: str) -> None:
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
    found = swapped_differences(score, 8, 20000, np.random.default_rng(0))
    assert found[0] == pytest.approx(differences[0])
    # Five standard errors of 20000 random swaps.
    assert permutation_p(found) == pytest.approx(exact, abs=0.018)


def test_with_one_seed_swaps_give_mcnemars_test_and_the_exact_test_of_f1() -> None:
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
        found = permutation_p(swapped_differences(score, 60, 20000, np.random.default_rng(0)))
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
    score = of_classes(classification.accuracy, np.concatenate([first, second]), labels)
    drawn = resampled(score, examples, 200, rng)
    difference = drawn[:, :seeds].mean(axis=1) - drawn[:, seeds:].mean(axis=1)
    mean = mean_over_seeds(
        (first.mean(axis=1) - second.mean(axis=1)), float(difference.var(ddof=1))
    )
    swapped = swapped_differences(swaps_of(first, second, labels, "accuracy"), examples, 200, rng)
    return max(mean.p, permutation_p(swapped)), mean.low <= 0 <= mean.high


@pytest.mark.parametrize(
    ("seeds", "spread"), [(1, 0.0), (2, 0.0), (2, 0.5), (3, 0.2), (3, 0.5), (5, 0.5)]
)
def test_equal_models_differ_no_more_often_than_stated(seeds: int, spread: float) -> None:
    rng = np.random.default_rng(11)
    results = [trial(rng, seeds, spread, 0.0) for _ in range(300)]
    # 0.05 and three standard errors of 300 trials.
    assert np.mean([p < 0.05 for p, _ in results]) < 0.088
    assert np.mean([covered for _, covered in results]) > 0.912


@pytest.mark.parametrize(
    ("seeds", "spread", "power"), [(1, 0.0, 0.9), (3, 0.1, 0.9), (5, 0.3, 0.9)]
)
def test_better_models_are_found(seeds: int, spread: float, power: float) -> None:
    rng = np.random.default_rng(12)
    assert np.mean([trial(rng, seeds, spread, 2.0)[0] < 0.05 for _ in range(60)]) > power
