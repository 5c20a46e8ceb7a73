"""Means over seeds and examples, against formulas, and on data whose mean is 0."""

import numpy as np
import pytest
from scipy import stats

from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.replicated import crossed_means


def test_equal_seeds_leave_the_variance_of_the_examples():
    values = np.array([[0.3, -2.0], [0.3, -2.0]])
    found = crossed_means(values, np.array([0.04, 1.0]))
    assert found.mean == pytest.approx([0.3, -2.0])
    assert found.p == pytest.approx(2 * stats.norm.sf([1.5, 2.0]), rel=1e-9)
    assert found.low == pytest.approx(np.array([0.3, -2.0]) - 1.959964 * np.array([0.2, 1.0]))
    assert np.isinf(found.df).all()


def test_without_noise_of_examples_it_is_students_t_over_seeds():
    values = np.array([[1.0], [2.5], [2.2]])
    found = crossed_means(values, np.zeros(1))
    expected = stats.ttest_1samp(values[:, 0], 0.0)
    assert (found.p[0], found.df[0]) == pytest.approx((expected.pvalue, 2))
    interval = expected.confidence_interval(0.95)
    assert (found.low[0], found.high[0]) == pytest.approx((interval.low, interval.high))
    assert found.spread[0] == pytest.approx(np.std([1.0, 2.5, 2.2], ddof=1))


def test_a_variance_that_is_small_by_chance_is_raised_to_the_mean_of_all():
    values = np.array([[1.0, 0.0], [1.0, 4.0]])
    found = crossed_means(values, np.full(2, 1e-12))
    assert found.high[0] - found.mean[0] == pytest.approx(stats.t.ppf(0.975, 1) * np.sqrt(4 / 2))


def test_a_set_that_changes_nothing_has_no_effect():
    found = crossed_means(np.zeros((2, 3)), np.zeros(3))
    assert found.p.tolist() == [1, 1, 1]
    assert (found.low == 0).all()
    assert (found.high == 0).all()


SPREADS = {
    "none": np.zeros(72),
    "that of the examples": np.ones(72),
    "five times that of the examples": np.full(72, 5.0),
    "great for some heads": np.where(np.arange(72) < 14, 4.0, 0.5),
}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("seeds", [2, 3])
def test_effects_that_only_differ_between_seeds_are_not_significant(seeds, spread):
    """Examples give each seed noise of variance 1, a fifth of which all seeds share."""
    rng, runs = np.random.default_rng(seeds), 300
    rates, families = [], []
    for _ in range(runs):
        noise = np.sqrt(0.2) * rng.normal(size=72) + np.sqrt(0.8) * rng.normal(size=(seeds, 72))
        values = noise + SPREADS[spread] * rng.normal(size=(seeds, 72))
        p = crossed_means(values, np.full(72, 0.2 + 0.8 / seeds)).p
        rates.append((p < 0.05).mean())
        families.append((benjamini_hochberg(p) < 0.05).any())
    assert np.mean(rates) < 0.05
    assert np.mean(families) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def test_an_effect_of_all_seeds_is_found():
    """The test can fail: the one head with an effect of six standard errors is significant."""
    rng, found = np.random.default_rng(0), []
    for _ in range(100):
        values = rng.normal(size=(3, 72)) + 1.0 * (np.arange(72) == 0) * 6
        result = crossed_means(values, np.full(72, 1 / 3))
        found.append(benjamini_hochberg(result.p)[0] < 0.05)
    assert np.mean(found) > 0.7
