"""Rank correlations with an order, and their permutation test, against SciPy."""

import numpy as np
import pytest
from scipy import stats

from darksecrets.core.stats.trend import permuted_places, rank_trends, trend_test


@pytest.mark.parametrize("places", [2, 6, 12])
def test_trends_are_spearmans_correlations(places):
    profiles = np.round(np.random.default_rng(0).random((5, 8, places)), 1) + 0.1
    found = rank_trends(profiles)
    for index in np.ndindex(5, 8):
        one = profiles[index]
        expected = stats.spearmanr(one, range(places)).statistic if np.ptp(one) else 0
        assert found[index] == pytest.approx(expected, abs=1e-12)


def test_the_exact_test_tries_every_order():
    profiles = np.random.default_rng(1).random((4, 5))
    orders = permuted_places(5, 10, np.random.default_rng(0))
    assert len({tuple(order) for order in orders.tolist()}) == 120
    p = trend_test(profiles, 10, np.random.default_rng(0))
    for profile, found in zip(profiles, p, strict=True):
        own = abs(stats.spearmanr(profile, range(5)).statistic)
        drawn = [abs(stats.spearmanr(profile[order], range(5)).statistic) for order in orders]
        assert found == pytest.approx(np.mean([value >= own - 1e-9 for value in drawn]))
    assert trend_test(np.arange(5.0)[None], 10, np.random.default_rng(0))[0] == 2 / 120


def test_many_places_are_permuted_at_random():
    profile = np.random.default_rng(5).random(12)
    p = trend_test(profile[None], 9999, np.random.default_rng(0))[0]
    method = stats.PermutationMethod(n_resamples=9999, rng=np.random.default_rng(1))
    expected = stats.pearsonr(stats.rankdata(profile), range(12), method=method).pvalue
    assert p == pytest.approx(expected, abs=0.03)  # five standard deviations of both


def test_what_is_the_same_everywhere_has_no_trend():
    flat = np.full((1, 6), 0.03) * (1 + 8e-8 * np.arange(6))  # rounding errors in one direction
    assert rank_trends(flat)[0] == 0
    assert trend_test(flat, 99, np.random.default_rng(0))[0] == 1
    assert rank_trends(np.zeros((1, 1)))[0] == 0
    assert trend_test(np.ones((1, 1)), 99, np.random.default_rng(0))[0] == 1


def test_random_orders_have_a_trend_no_more_often_than_stated():
    profiles = np.random.default_rng(2).random((2000, 6))
    p = trend_test(profiles, 99, np.random.default_rng(0))
    assert (p < 0.05).mean() <= stats.binom.ppf(0.999, 2000, 0.05) / 2000
    many = trend_test(np.random.default_rng(3).random((500, 12)), 999, np.random.default_rng(0))
    assert 0.02 < (many < 0.05).mean() < 0.085  # binomial of 500


def test_a_profile_with_an_unknown_value_has_no_trend_and_no_p_value():
    profiles = np.array([[1.0, 2, np.nan, 4], [1, 2, 3, 4]])
    assert np.isnan(rank_trends(profiles)).tolist() == [True, False]
    p = trend_test(profiles, 10, np.random.default_rng(0))
    assert np.isnan(p[0])
    assert p[1] == 2 / 24
