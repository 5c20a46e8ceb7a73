"""How many seeds decide: against simulated seeds and examples, and SciPy's t test."""

import math

import numpy as np
import pytest
from scipy import stats

from darksecrets.stats.power import MOST, POWER, Distance, power, seeds_needed
from darksecrets.stats.seeds import critical_value


@pytest.mark.parametrize(("distance", "between"), [(1.0, 1.0), (2.0, 1.0), (0.5, 1.0)])
def test_without_variance_of_examples_it_is_the_t_test(distance, between):
    """20,000 samples of as many seeds as are needed, each tested by SciPy; and of one fewer."""
    rng, needed = np.random.default_rng(0), seeds_needed(Distance(distance, between))
    assert needed is not None
    for seeds, enough in ((needed, True), (needed - 1, False)):
        values = rng.normal(distance, between, (20_000, seeds))
        tests = stats.ttest_1samp(values, 0, axis=1)
        share = ((tests.pvalue < 0.05) & (tests.statistic > 0)).mean()
        assert share == pytest.approx(power(seeds, distance, between), abs=0.012)
        assert (power(seeds, distance, between) >= POWER) is enough


@pytest.mark.parametrize("seeds", [3, 6, 15])
@pytest.mark.parametrize("of_examples", [0.05, 0.3])
def test_with_examples_it_is_the_share_of_intervals_that_decide(seeds, of_examples):
    """2,000 means with the critical value that claims have: within 4 points of the formula."""
    rng, distance, between = np.random.default_rng(1), 1.6, 1.0
    values = rng.normal(distance, between, (seeds, 2000))
    values += rng.normal(0, np.sqrt(of_examples), 2000)  # all seeds share the examples
    of_seeds = values.var(axis=0, ddof=1) / seeds
    decided = [
        mean > critical_value(0.05, (of_examples, math.inf), (own, seeds - 1)) * error
        for mean, own, error in zip(
            values.mean(axis=0), of_seeds, np.sqrt(of_examples + of_seeds), strict=True
        )
    ]
    expected = power(seeds, distance, between, of_examples)
    assert np.mean(decided) == pytest.approx(expected, abs=0.04)


def test_a_known_number():
    """Half a standard deviation needs 34 pairs for 80% (Cohen 1988, and any textbook since)."""
    assert seeds_needed(Distance(0.5, 1.0)) == 34


def test_more_seeds_do_not_replace_examples():
    """If examples alone leave a difference undecided, no number of seeds decides it."""
    assert seeds_needed(Distance(1.0, 1.0, 0.3)) is None
    assert seeds_needed(Distance(0.0, 1.0)) is None
    assert seeds_needed(Distance(1e-6, 1.0)) is None
    assert power(MOST, 1.0, 1.0, 0.3) < POWER
    some = [seeds_needed(Distance(1.0, 1.0, e)) for e in (0.0, 0.05, 0.1)]
    assert some == sorted(some, key=lambda seeds: seeds or MOST)


def test_no_true_difference_is_decided_by_chance_only():
    for seeds in (2, 3, 10):
        assert power(seeds, 0.0, 1.0) == pytest.approx(0.025, abs=1e-6)


def test_several_are_decided_together():
    """By simulated t tests of four means: one needs fewer seeds than all four."""
    rng, one = np.random.default_rng(2), Distance(1.0, 1.0)
    alone, together = seeds_needed(one), seeds_needed(*[one] * 4)
    assert alone is not None
    assert together is not None
    for seeds, low, high in ((alone, 0.35, 0.55), (together, POWER, 0.88)):
        tests = stats.ttest_1samp(rng.normal(1.0, 1.0, (4, 5000, seeds)), 0, axis=-1)
        assert low < (tests.pvalue < 0.05).all(axis=0).mean() < high
    assert seeds_needed(one, Distance(0.0, 1.0)) is None
