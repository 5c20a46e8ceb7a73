"""Bootstrap over crossed units against loops, and the coverage of its intervals."""

import numpy as np
import pytest

from darksecrets.stats.crossed import (
    drawn_means,
    drawn_weights,
    interval_of_known,
    probability_greatest,
)


def test_one_model_is_the_plain_bootstrap_over_examples():
    values = np.random.default_rng(0).normal(size=(1, 40, 3))
    values[0, :7, 1] = np.nan
    drawn = drawn_means(values, 4000, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    loop = np.array([np.nanmean(values[0, rng.integers(40, size=40)], axis=0) for _ in range(4000)])
    # Monte Carlo errors of 4000 resamples: 5 standard deviations
    error = 5 * loop.std(axis=0) / np.sqrt(4000)
    assert (np.abs(drawn.mean(axis=0) - loop.mean(axis=0)) < 1.5 * error).all()
    np.testing.assert_allclose(drawn.std(axis=0), loop.std(axis=0), rtol=0.08)


def test_several_models_are_drawn_along_with_the_examples():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, 50, 1)) + 3 * rng.normal(size=(4, 1, 1))
    drawn = drawn_means(values, 6000, np.random.default_rng(1))[:, 0]
    loop = []
    for _ in range(6000):
        models, examples = rng.integers(4, size=4), rng.integers(50, size=50)
        loop.append(values[models][:, examples].mean())
    assert drawn.std() == pytest.approx(np.std(loop), rel=0.06)
    alone = drawn_means(values[:1], 6000, np.random.default_rng(1))
    assert drawn.std() > 3 * alone.std(), "the spread of the models is in it"


def test_intervals_cover_the_mean_as_often_as_stated():
    rng = np.random.default_rng(0)
    covered = 0
    for number in range(400):
        values = rng.exponential(size=(1, 80, 1)) + 1
        low, high = interval_of_known(drawn_means(values, 400, np.random.default_rng(number)))[:, 0]
        covered += low <= 2 <= high
    # binomial of 400 at 93 % (percentile intervals of skewed data are a little short)
    assert 0.89 < covered / 400 < 0.975


def test_values_that_do_not_exist_have_no_interval():
    values = np.full((2, 10, 2), np.nan)
    values[:, 3, 1] = 0.5
    low, high = interval_of_known(drawn_means(values, 500, np.random.default_rng(0)))
    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == (0.5, 0.5)


def test_weights_sum_to_one():
    weights = drawn_weights(30, 7, np.random.default_rng(0))
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert weights.shape == (30, 7)


def test_the_greatest_is_greatest_by_all_criteria_and_ties_share():
    first = np.array([[1.0, 2.0, 2.0], [3.0, 1.0, np.nan]])
    np.testing.assert_allclose(probability_greatest(first[None], 0), [0.5, 0.25, 0.25])
    second = np.array([[0.0, 5.0, 0.0], [0.0, 1.0, 0.0]])
    both = probability_greatest(np.stack([first, second]), 0)
    np.testing.assert_allclose(both, [0, 0.5, 0])
    np.testing.assert_allclose(probability_greatest(first[None], 1.5), [2 / 3, 1 / 6, 1 / 6])


def test_equal_candidates_are_greatest_no_more_often_than_stated():
    """Two equal means: a bootstrap probability above 0.975 for either in 5 % of the samples."""
    rng, found = np.random.default_rng(0), []
    for number in range(400):
        values = rng.normal(size=(1, 60, 2))
        drawn = drawn_means(values, 400, np.random.default_rng(number))
        found.append(probability_greatest(drawn[None], 0).max() > 0.975)
    assert 0.02 < np.mean(found) < 0.095  # binomial of 400 at 5 %, and at 6 %
