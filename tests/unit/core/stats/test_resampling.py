"""Bootstrap weights, intervals and halves against loops, SciPy and their distributions."""

import numpy as np
import pytest
import scipy.stats

from darksecrets.core.stats.resampling import (
    bootstrap_weights,
    cluster_weights,
    feasible,
    group_sums,
    halves,
    interval,
    interval_of_known,
    multinomial_weights,
    stratified_halves,
    widened,
)


def one_by_one(resamples, examples, rng):
    return np.concatenate(list(bootstrap_weights(resamples, examples, rng)))


def all_at_once(resamples, examples, rng):
    return multinomial_weights(resamples, np.ones(examples, dtype=np.int64), rng)


@pytest.mark.parametrize("draw", [one_by_one, all_at_once])
def test_draws_are_with_replacement_and_as_likely_for_every_example(draw):
    weights = draw(3000, 2000, np.random.default_rng(0))
    assert weights.shape == (3000, 2000)
    assert (weights.sum(axis=1) == 2000).all()
    assert weights.mean(axis=0) == pytest.approx(1, abs=5 / np.sqrt(3000))
    assert weights.var() == pytest.approx(1 - 1 / 2000, rel=0.01)
    assert len({row.tobytes() for row in weights}) == 3000


def test_weights_are_drawn_in_blocks_that_go_on_with_the_stream():
    blocks = list(bootstrap_weights(3000, 2000, np.random.default_rng(0)))
    assert len(blocks) > 1
    rng = np.random.default_rng(0)
    for block in blocks:
        for row in block:
            assert (row == np.bincount(rng.integers(2000, size=2000), minlength=2000)).all()


def test_cells_of_a_table_are_drawn_by_their_shares():
    counts = np.array([6, 0, 3, 1])
    drawn = multinomial_weights(20_000, counts, np.random.default_rng(1))
    assert (drawn.sum(axis=1) == 10).all()
    assert drawn.mean(axis=0) == pytest.approx(counts, abs=5 * np.sqrt(2.5 / 20_000))
    assert drawn[:, 0].var() == pytest.approx(10 * 0.6 * 0.4, rel=0.05)


def test_clusters_are_drawn_whole():
    clusters = np.array(["b", "a", "b", "c", "a", "b"])
    drawn = cluster_weights(4000, clusters, np.random.default_rng(2))
    for name in "abc":
        assert (np.ptp(drawn[:, clusters == name], axis=1) == 0).all()
    first = drawn[:, [1, 0, 3]]  # one observation each of a, b, c
    assert (first == all_at_once(4000, 3, np.random.default_rng(2))).all()


def test_the_interval_is_that_of_the_percentiles():
    values = np.random.default_rng(3).normal(size=(1000, 2, 3))
    assert (interval(values) == np.percentile(values, [2.5, 97.5], axis=0)).all()
    ordered = np.sort(values, axis=0)
    assert interval(values, level=2 * 100 / 999)[0] == pytest.approx(ordered[100])


@pytest.mark.parametrize("draw", [one_by_one, all_at_once])
def test_the_interval_of_a_mean_is_scipys_and_covers_it(draw):
    rng, covered = np.random.default_rng(4), 0
    for trial in range(200):
        sample = rng.exponential(size=80)
        low, high = interval(draw(1000, 80, rng) @ sample / 80)
        covered += low <= 1 <= high
        if not trial:
            reference = scipy.stats.bootstrap(
                (sample,), np.mean, method="percentile", n_resamples=10_000, rng=rng
            ).confidence_interval
            width = reference.high - reference.low
            assert (low, high) == pytest.approx(tuple(reference), abs=0.1 * width)
    assert 0.88 < covered / 200 < 0.99  # percentile intervals of skewed samples cover a little less


def test_sums_of_groups_are_those_of_a_loop():
    values = np.random.default_rng(0).normal(size=(7, 2))
    groups = np.array([2, 0, 0, 1, 2, 2, 1])
    found = group_sums(values, groups)
    assert found.shape == (3, 2)
    for group in range(3):
        expected = [sum(values[i, k] for i in range(7) if groups[i] == group) for k in range(2)]
        assert found[group] == pytest.approx(expected)
    assert group_sums(values, None) is values


@pytest.mark.parametrize("examples", [9, 10])
def test_halves_are_halves(examples):
    masks = np.concatenate(list(halves(40, examples, np.random.default_rng(0))))
    assert masks.shape == (40, examples)
    assert (masks.sum(axis=1) == examples // 2).all()
    assert (np.ptp(masks, axis=0) == 1).all()


@pytest.mark.parametrize("seed", range(5))
def test_halves_have_equally_many_of_every_stratum(seed):
    strata = np.repeat([0, 1, 2], [7, 4, 2])
    half = stratified_halves(strata, np.random.default_rng(seed))
    assert set(half) == {0, 1}
    for stratum in range(3):
        ones = half[strata == stratum].sum()
        zeros = (half[strata == stratum] == 0).sum()
        assert abs(ones - zeros) <= 1
    assert half.sum() in (6, 7)


def test_ends_stay_within_what_is_possible_and_on_their_side_of_every_threshold():
    ends = np.array([[-167.0, -3.0, 2.0, np.nan], [167.0, 120.0, 9.0, np.nan]])
    clipped = feasible(ends, -100, 100)
    np.testing.assert_array_equal(clipped, [[-100, -3, 2, np.nan], [100, 100, 9, np.nan]])
    for threshold in np.linspace(-99, 99, 67):
        for before, after in zip(ends, clipped, strict=True):
            np.testing.assert_array_equal(before > threshold, after > threshold)


def test_widened_intervals_cover_means_of_few_units_as_often_as_stated():
    rng = np.random.default_rng(11)
    values = rng.standard_normal((8, 4000))
    drawn = values[rng.integers(8, size=(400, 8))].mean(axis=1)
    ends, means = interval(drawn), values.mean(axis=0)
    assert ((ends[0] > 0) | (ends[1] < 0)).mean() > 0.1, "percentiles alone are too near"
    low, high = widened(ends, means, np.full(4000, 8))
    assert ((low > 0) | (high < 0)).mean() == pytest.approx(0.05, abs=0.015)
    few = widened(ends, means, np.ones(4000, dtype=np.int64))
    assert np.allclose(few, ends, rtol=1e-12)


def test_intervals_are_widened_by_students_t_and_the_lost_degree_of_freedom():
    for units in range(1, 6):
        low, high = widened(np.array([[-2.0], [4.0]]), np.array([1.0]), np.array([units]))
        factor = 1.0
        if units > 1:
            student = scipy.stats.t(units - 1).ppf(0.975) / scipy.stats.norm.ppf(0.975)
            factor = student * np.sqrt(units / (units - 1))
        assert (low[0], high[0]) == pytest.approx((1 - 3 * factor, 1 + 3 * factor))


def test_percentiles_leave_out_missing_values():
    values = np.random.default_rng(12).normal(size=(200, 3))
    values[::3, 1] = np.nan
    values[:, 2] = np.nan
    found = interval_of_known(values)
    for column in range(2):
        known = sorted(value for value in values[:, column] if not np.isnan(value))
        assert found[:, column] == pytest.approx(np.percentile(known, [2.5, 97.5]))
    assert np.isnan(found[:, 2]).all()
