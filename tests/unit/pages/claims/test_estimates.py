"""Intervals over seeds and for several comparisons, beside SciPy's and simulations of null data."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from darksecrets.core.stats.seeds import mean_over_seeds
from darksecrets.pages.claims.answers import Answer, every, some
from darksecrets.pages.claims.estimates import (
    Estimate,
    Spread,
    Threshold,
    average_over_seeds,
    difference,
    spread,
    total,
)

YES, NO, OPEN = Answer.YES, Answer.NO, Answer.OPEN


def estimate(value: float, half: float = 1, **more) -> Estimate:
    return Estimate((), value, value - half, value + half, **more)


@pytest.mark.parametrize(
    ("answers", "all_of_them", "one_of_them"),
    [
        ([YES, YES], YES, YES),
        ([YES, OPEN], OPEN, YES),
        ([NO, OPEN], NO, OPEN),
        ([YES, NO], NO, YES),
        ([NO, NO], NO, NO),
        ([], OPEN, OPEN),
    ],
)
def test_an_open_statement_decides_nothing(answers, all_of_them, one_of_them):
    assert every(answers) == all_of_them
    assert some(answers) == one_of_them


@pytest.mark.parametrize(
    ("threshold", "yes", "no", "border"),
    [
        ({"above": 0}, 1.1, -1.1, 0.9),
        ({"below": 0}, -1.1, 1.1, -0.9),
        ({"near": 10, "within": 2}, 9.5, 6.9, 8.5),
    ],
)
def test_a_threshold_needs_the_whole_interval(threshold, yes, no, border):
    claimed = Threshold(**threshold)
    assert [claimed.answer(estimate(value)) for value in (yes, no, border)] == [YES, NO, OPEN]
    assert claimed.answer(Estimate.missing((), "because")) == OPEN


def test_exactly_the_number_is_not_above_it():
    assert Threshold(above=0).answer(estimate(0, half=0)) == NO
    assert Threshold(near=3, within=0).answer(estimate(3, half=0)) == YES


@pytest.mark.parametrize("wrong", [{}, {"above": 1, "below": 2}, {"near": 1}, {"within": 1}])
def test_a_threshold_has_one_side(wrong):
    with pytest.raises(ValueError, match="needs one of"):
        Threshold(**wrong)


@pytest.mark.parametrize("degrees", [math.inf, 4])
def test_several_comparisons_widen_an_interval(degrees):
    one = estimate(5, half=float(stats.t.ppf(0.975, degrees)), degrees=degrees)
    seven = one.widen_for(7)
    assert seven.high - 5 == pytest.approx(stats.t.ppf(1 - 0.025 / 7, degrees))
    assert one.widen_for(1) == one


def test_the_mean_over_seeds_by_hand():
    values, halves = np.array([1.0, 2.0, 6.0]), np.array([0.5, 1.0, 1.5])
    parts = [estimate(value, half) for value, half in zip(values, halves, strict=True)]
    found = average_over_seeds(parts, spread([values]))
    assert (found.value, found.seeds, found.degrees) == (3, 3, 2)
    # The examples' standard error is 1 / 1.96, from the mean half-width.
    by_variance = mean_over_seeds(values, (1 / stats.norm.ppf(0.975)) ** 2)
    assert (found.low, found.high) == pytest.approx((by_variance.low, by_variance.high))


def test_the_spread_over_seeds_is_pooled():
    groups = [[1.0, 3.0], [10.0, 10.0, 13.0], [5.0]]
    found = spread(groups)
    variances = (1 * np.var([1, 3], ddof=1) + 2 * np.var([10, 10, 13], ddof=1)) / 3
    assert (found.deviation, found.degrees) == (pytest.approx(math.sqrt(variances)), 3)
    assert spread([[1.0], [2.0]]) == Spread(0.0, 0)
    parts = [estimate(5.0), estimate(5.0)]
    pooled = average_over_seeds(parts, Spread(2, 9))
    assert pooled.high > estimate(5.0).high, "seeds that agree by chance get the pooled spread"
    assert pooled.degrees == 9
    apart = average_over_seeds([estimate(-5.0), estimate(5.0)], Spread(2, 9))
    assert apart.degrees == 1, "seeds that differ more are few"
    assert apart.high > 5.0 * stats.t.ppf(0.975, 1) * 0.9


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 3])
@pytest.mark.parametrize("tasks", [1, 7])
@pytest.mark.parametrize("deviation", [0.0, 0.5, 2.0])
def test_intervals_over_seeds_cover_the_truth(seeds, tasks, deviation):
    """Shared examples, tasks alike: at least 95%, up to what 700 draws can show."""
    rng, covered = np.random.default_rng(1), []
    for _ in range(700 // tasks):
        examples = rng.normal(0, 1, tasks)
        values = examples[:, None] + rng.normal(0, deviation, (tasks, seeds))
        pooled = spread(list(values))
        for task in values:
            found = average_over_seeds([estimate(value, 1.96) for value in task], pooled)
            covered.append(found.low <= 0 <= found.high)
    assert np.mean(covered) > 0.93


def test_sums_and_differences_hold_for_any_dependence():
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 1, 4000)
    for one, other in ((shared, shared), (shared, -shared), (shared, rng.normal(0, 1, 4000))):
        sums = [
            total([estimate(a, 1.96), estimate(b, 1.96)]) for a, b in zip(one, other, strict=True)
        ]
        gaps = [
            difference(estimate(a, 1.96), estimate(b, 1.96), independent=False)
            for a, b in zip(one, other, strict=True)
        ]
        for found in (sums, gaps):
            assert np.mean([each.low <= 0 <= each.high for each in found]) > 0.94


def test_a_difference_of_independent_estimates():
    found = difference(estimate(5, 3), estimate(1, 4), independent=True)
    assert (found.value, found.high - found.value) == (4, 5)
    assert difference(estimate(1), Estimate.missing((), "why"), independent=True).unknown == "why"


def test_a_difference_is_within_what_its_terms_can_be():
    share, score = estimate(0.5, bounds=(0, 1)), estimate(70, bounds=(-100, 100))
    assert difference(share, score, independent=True).bounds == (-100, 101)
    assert difference(score, share, independent=False).bounds == (-101, 100)


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize(("a", "b"), [(1, 4), (8, 2), (0.5, 0.5)])
def test_the_mean_share_is_covered_by_intervals_of_shares(seeds, a, b):
    """Shares of 16 heads of three tasks, whose seeds differ; truth known, 400 runs."""
    rng, truth, covered, outside = np.random.default_rng(0), a / (a + b), 0, 0
    error = 0.03
    for _ in range(400):
        shares = rng.beta(a, b, (3, seeds)) + rng.normal(0, error, (3, seeds))
        found = np.round(16 * np.clip(shares, 0, 1)) / 16
        parts = [estimate(share, 1.96 * error) for share in found[0]]
        mean = replace(average_over_seeds(parts, spread(found)), bounds=(0, 1))
        low, high = mean.ends
        assert 0 <= low <= mean.value <= high <= 1
        assert (low <= truth <= high) == (mean.low <= truth <= mean.high)
        outside += (mean.low, mean.high) != (low, high)
        covered += low <= truth <= high
    assert covered / 400 >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / 400)
    assert outside or seeds > 2, "over two seeds, some intervals would end beyond"
