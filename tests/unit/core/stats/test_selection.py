"""The best candidate's gain: by hand, against loops over pairs of halves, and on known truths."""

import numpy as np
import pytest
from adversarial import sweeps
from scipy.stats import binom

from darksecrets.core.interventions.scores import weighted
from darksecrets.core.stats.resampling import halves, interval
from darksecrets.core.stats.selection import best_gain

METRICS = {"accuracy": sweeps.CLASSES, "f1": sweeps.CLASSES, "pearson": sweeps.REGRESSION}


def test_the_gain_of_the_chosen_by_hand():
    ones = np.array([[0.1, 0.3, 0.3], [0.2, 0.0, -0.1]])
    others = np.array([[9.0, 0.1, -0.3], [0.5, 0.2, 0.2]])
    found = best_gain(ones, others)  # the first half chooses two in equal parts
    assert found.mean == pytest.approx(np.mean([-0.1, 0.1, 0.5, 0.2]))
    assert found.chosen == pytest.approx(np.array([3, 0.5, 0.5]) / 4)


def test_the_interval_against_loops_over_pairs_of_halves():
    """Each half is one of both of its split; pairs are of different splits."""
    rng = np.random.default_rng(0)
    ones, others = rng.normal(size=(2, 12, 5))
    sides = [(ones, others), (others, ones)]
    mean = np.mean([b[s, a[s].argmax()] for a, b in sides for s in range(12)])
    every = [((a - b)[s] / 2, a[s].argmax(), s) for a, b in sides for s in range(12)]
    apart = [(x, y) for x in every for y in every if x[2] != y[2]]
    # V of the candidates that two halves choose, from the deviation of every half
    fixed = np.mean([e[0][x[1]] * e[0][y[1]] for e in every for x in every for y in every])
    added = np.mean([x[0][y[1]] * y[0][x[1]] for x, y in apart])
    found = best_gain(ones, others)
    assert added > 0
    assert found.mean == pytest.approx(mean, abs=1e-12)
    reach = 1.959963984540054 * np.sqrt(fixed + added)
    assert (found.low, found.high) == pytest.approx((mean - reach, mean + reach), abs=1e-12)


def test_of_one_candidate_the_interval_is_that_of_its_mean():
    rng = np.random.default_rng(1)
    gains = rng.normal(size=(300, 1))
    masks = np.concatenate(list(halves(4000, 300, rng)))
    found = best_gain(masks @ gains / 150, (1 - masks) @ gains / 150)
    assert found.mean == pytest.approx(gains.mean())
    width = 2 * 1.96 * gains.std(ddof=1) / np.sqrt(300)
    assert found.high - found.low == pytest.approx(width, rel=0.03)


def test_candidates_that_change_nothing_gain_nothing():
    found = best_gain(np.zeros((10, 4)), np.zeros((10, 4)))
    assert (found.mean, found.low, found.high) == (0, 0, 0)
    assert found.chosen == pytest.approx(np.full(4, 0.25))


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("helps", [False, True])
def test_the_interval_covers_the_truth_as_often_as_stated_and_is_narrow(metric, helps):
    """Coverage by draws of sweeps whose truth is known; percentiles over halves are wider."""
    rng, shape = np.random.default_rng(2), sweeps.Shape(examples=200, layers=6, heads=6)
    effect = 0.3 if METRICS[metric] == sweeps.CLASSES else 0.12
    rows, draws = [], 200
    for _ in range(draws):
        known = sweeps.sweep(METRICS[metric], rng, shape, {7: effect} if helps else {})
        score, sets = weighted(known.result, metric), slice(1, 37)
        masks = np.concatenate(list(halves(60, 200, rng)))
        ones, others = (of[:, sets] - of[:, :1] for of in (score(masks), score(1 - masks)))
        found = best_gain(ones, others)
        before = np.concatenate(
            [b[np.arange(60), a.argmax(axis=1)] for a, b in ((ones, others), (others, ones))]
        )
        truth = found.chosen @ known.true[metric][sets]
        rows.append((found.mean - truth, found.low - truth, found.high - truth, *interval(before)))
    gap, low, high, low_before, high_before = np.array(rows).T
    covered = int(((low <= 0) & (high >= 0)).sum())
    assert binom.ppf(0.001, draws, 0.95) <= covered <= binom.ppf(0.999, draws, 0.95)
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(draws)
    assert 0.9 < (high - low).mean() / (3.92 * gap.std()) < 1.12
    if not helps:
        assert (high_before - low_before).mean() > 1.15 * (high - low).mean()


def test_the_best_of_null_candidates_gains_only_on_the_half_that_chose_it():
    rng = np.random.default_rng(6)
    naive, unbiased = [], []
    for _ in range(200):
        gains = rng.normal(size=(40, 30))  # [examples, candidates]
        naive.append(gains.mean(axis=0).max())
        masks = np.concatenate(list(halves(20, 40, rng)))
        unbiased.append(best_gain(masks @ gains / 20, (1 - masks) @ gains / 20).mean)
    assert np.mean(naive) > 0.25
    assert abs(np.mean(unbiased)) < 4 * np.std(unbiased) / np.sqrt(200)
