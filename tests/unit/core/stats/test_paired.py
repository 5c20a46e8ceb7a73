"""Paired tests and intervals against SciPy's, against loops, and on null data."""

import itertools

import numpy as np
import pytest
import scipy.stats

from darksecrets.core.stats.paired import (
    intersection_union,
    mean_intervals,
    mean_over_heads,
    nanmean,
    sign_bound,
    sign_flips,
    student,
)


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_p_values_agree_with_scipy_on_all_signs():
    draws = 20_000
    differences = rng(6).normal(0.4, 1, size=(12, 3))
    found = sign_flips(differences, draws, rng(0)).p
    for column in range(3):
        expected = scipy.stats.permutation_test(
            (differences[:, column],),
            lambda x, axis: x.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
            alternative="greater",
        ).pvalue
        error = 5 * np.sqrt(expected * (1 - expected) / draws) + 1 / draws
        assert found[column] == pytest.approx(expected, abs=error)


def test_the_family_agrees_with_a_loop_over_all_signs():
    draws = 20_000
    differences = rng(7).normal(0.5, [1, 2, 9, 0.1], size=(9, 4))
    differences[2, 1] = np.nan
    found = sign_flips(differences.reshape(9, 2, 2), draws, rng(1)).family.ravel()

    def statistics(values):
        """Student's t, which sign changes order in the same way."""
        known = [[v for v in column if not np.isnan(v)] for column in values.T]
        return [np.sum(column) / np.sqrt(np.sum(np.square(column))) for column in known]

    observed = statistics(differences)
    highest = np.array(
        [
            max(statistics(differences * np.array(signs)[:, None]))
            for signs in itertools.product([1, -1], repeat=9)
        ]
    )
    for column in range(4):
        expected = np.mean(highest >= observed[column] - 1e-12)
        error = 5 * np.sqrt(expected * (1 - expected) / draws) + 1 / draws
        assert found[column] == pytest.approx(expected, abs=error)


def test_nothing_is_found_where_there_is_nothing():
    differences = np.zeros((20, 3))
    differences[:, 1] = np.nan
    differences[:, 2] = 1e-5  # the same rounding error in every sentence
    found = sign_flips(differences, 99, rng(0), zero=1e-4)
    assert (found.p == 1).all()
    assert (found.family == 1).all()
    assert sign_flips(differences, 99, rng(0)).p[2] == 0.01


def test_the_error_on_null_data_is_at_most_5_percent():
    """Differences of a family are correlated and skewed, like those of heads."""
    random = rng(9)
    single, family = np.zeros((2, 400))
    for trial in range(400):
        shared = random.exponential(size=(60, 1)) - 1
        differences = shared + random.exponential(size=(60, 8)) - 1
        found = sign_flips(differences, 199, random)
        single[trial], family[trial] = (found.p <= 0.05).mean(), (found.family <= 0.05).any()
    assert 0.02 < single.mean() < 0.06
    assert family.mean() <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)
    assert family.any()


def test_units_of_a_group_share_their_sign_and_are_drawn_together():
    """Copies of a unit add nothing: p-values and intervals are those of the single units."""
    single = rng(11).normal(0.3, 1, size=(15, 3))
    groups = np.repeat(np.arange(15), 4)
    copied = sign_flips(single[groups], 999, rng(0), groups=groups)
    alone = sign_flips(single, 999, rng(0))
    np.testing.assert_array_equal(copied.p, alone.p)
    np.testing.assert_array_equal(copied.family, alone.family)
    np.testing.assert_allclose(
        mean_intervals(single[groups], 999, rng(0), groups=groups),
        mean_intervals(single, 999, rng(0)),
    )
    assert (sign_flips(single[groups], 999, rng(0)).p <= alone.p).all()


def test_all_effects_must_be_present():
    """One of two effects is 0 and the other is great: the error is that of the first alone."""
    random = rng(4)
    differences = random.normal([0, 2], 1, size=(500, 40, 2)).swapaxes(0, 1)
    p = sign_flips(differences.reshape(40, -1), 499, random).p.reshape(500, 2).T
    passed = np.mean(intersection_union(p) <= 0.05)
    assert abs(passed - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 500)
    both = random.normal(1, 1, size=(40, 2))
    assert intersection_union(sign_flips(both, 499, random).p) < 0.05


def test_intervals_agree_with_scipys_bootstrap_and_leave_out_missing_values():
    values = rng(5).exponential(size=(80, 2))
    values[::3, 1] = np.nan
    low, high = mean_intervals(values, 20_000, rng(0))
    for column in range(2):
        known = values[~np.isnan(values[:, column]), column]
        expected = scipy.stats.bootstrap(
            (known,), np.mean, n_resamples=20_000, method="percentile", rng=rng(1)
        ).confidence_interval
        assert low[column] == pytest.approx(expected.low, abs=0.02)
        assert high[column] == pytest.approx(expected.high, abs=0.02)
    empty = mean_intervals(np.full((5, 2), np.nan), 99, rng(0))
    assert empty.shape == (2, 2)
    assert np.isnan(empty).all()


def test_students_t_from_sums_is_scipys():
    values = rng(8).normal(0.2, [1, 3], size=(25, 2))
    found = student(values.sum(axis=0), (values**2).sum(axis=0), np.array(25))
    for column in range(2):
        test = scipy.stats.ttest_1samp(values[:, column], 0)
        interval = test.confidence_interval(0.95)
        assert found.mean[column] == pytest.approx(values[:, column].mean())
        assert found.low[column] == pytest.approx(interval.low)
        assert found.high[column] == pytest.approx(interval.high)
        greater = scipy.stats.ttest_1samp(values[:, column], 0, alternative="greater").pvalue
        assert found.p[column] == pytest.approx(greater)


def test_students_t_without_differences_or_without_units_finds_nothing():
    found = student(np.array([0.0, 0.5, 0.0]), np.array([0.0, 0.25, 0.0]), np.array([9, 1, 0]))
    assert (found.p == 1).all()
    assert found.low[0] == found.high[0] == found.mean[0] == 0
    assert np.isnan(found.low[1:]).all()
    assert found.mean[1] == 0.5
    assert np.isnan(found.mean[2])


@pytest.mark.parametrize("difference", [0.1, 0.7, 1.0])
def test_identical_differences_are_no_surer_than_their_signs(difference):
    """Sums of the same number round differently from its multiple; SciPy says p = 0."""
    for units in (2, 5, 6, 40, 3000):
        values = np.full(units, difference)
        sums, squares = np.array([values.sum(), -values.sum()]), np.tile((values**2).sum(), 2)
        found = student(sums, squares, np.array(units))
        assert found.mean == pytest.approx([difference, -difference])
        assert np.isnan([found.low, found.high]).all()
        assert found.p.tolist() == [0.5**units if units >= 6 else 1, 1]


def test_a_small_spread_is_no_rounding_error():
    values = 1 + np.tile([-1e-4, 1e-4], 50)
    found = student(np.array(values.sum()), np.array((values**2).sum()), np.array(100))
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.low == pytest.approx(expected.low, abs=1e-9)
    assert found.high - found.low == pytest.approx(expected.high - expected.low, rel=1e-5)


def test_too_few_units_are_never_significant():
    """The least two-sided p-value of five random signs is 2 / 2^5 = 0.0625."""
    values = np.array([0.5, 0.51, 0.49, 0.5, 0.52, 0.5])
    for units in range(1, 7):
        some = values[:units]
        found = student(np.array(some.sum()), np.array((some**2).sum()), np.array(units))
        assert (found.p < 1) == (2 / 2**units < 0.05) == bool(np.isfinite(found.low))


@pytest.mark.parametrize("units", [1, 2, 5, 11])
def test_no_choice_of_signs_is_rarer_than_the_bound_says(units):
    """Against all signs; of equal differences and of some that are much greater than others."""
    signs = np.array([*itertools.product([-1, 1], repeat=units)])
    for power in (0, 1, 4):
        for differences in rng(units).normal(0.5, 1, size=(30, units)):
            values = np.sign(differences) * np.abs(differences) ** power
            exact = (signs @ np.abs(values) >= values.sum() - 1e-9).mean()
            assert sign_bound(values.sum(), (values**2).sum()) >= exact - 1e-9


def test_the_bound_is_never_above_one_and_nothing_is_not_significant():
    found = sign_bound(np.array([-3.0, 0.0, 0.0]), np.array([9.0, 4.0, 0.0]))
    assert found.tolist() == [1, 1, 1]
    found = sign_bound(np.array([30.0, 2.5]), np.array([30.0, 0.8]))
    scaled = [30 / np.sqrt(30), 2.5 / np.sqrt(0.8)]
    assert found == pytest.approx([3.1787 * scipy.stats.norm.sf(value) for value in scaled])


def test_means_leave_out_what_is_missing():
    values = np.array([[1.0, np.nan, 4.0], [np.nan, np.nan, np.nan]])
    assert nanmean(values) == pytest.approx([2.5, np.nan], nan_ok=True)
    assert nanmean(values, axis=0) == pytest.approx([1.0, np.nan, 4.0], nan_ok=True)


def test_means_over_heads_are_of_every_layer_and_then_of_the_encoder():
    values = rng(3).normal(size=(2, 3, 4))
    values[0, 1, 2] = np.nan
    values[1, 2] = np.nan
    found = mean_over_heads(values)
    assert found.shape == (2, 4)
    for example in range(2):
        layers = [[v for v in layer if not np.isnan(v)] for layer in values[example]]
        encoder = [v for layer in layers for v in layer]
        for layer, known in enumerate([*layers, encoder]):
            expected = sum(known) / len(known) if known else np.nan
            assert found[example, layer] == pytest.approx(expected, nan_ok=True)
