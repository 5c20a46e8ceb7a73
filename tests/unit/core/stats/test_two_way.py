"""Components of variance of a two-way layout: against plain loops, and on known ones."""

import numpy as np
import pytest
from scipy import stats

from darksecrets.core.stats.two_way import components


def drawn(
    rng: np.random.Generator, shape: tuple[int, int], sds: tuple[float, float, float]
) -> np.ndarray:
    rows, columns = shape
    return (
        80
        + rng.normal(0, sds[0], (rows, 1))
        + rng.normal(0, sds[1], (1, columns))
        + rng.normal(0, sds[2], shape)
    )


def test_estimates_are_those_of_a_table_of_the_analysis_of_variance():
    """Sums of squares written out as loops; the F test by SciPy."""
    values = drawn(np.random.default_rng(0), (3, 4), (2, 1, 1))
    rows, columns = values.shape
    mean = sum(values[i, j] for i in range(rows) for j in range(columns)) / values.size
    of_row = [sum(values[i, j] for j in range(columns)) / columns for i in range(rows)]
    of_column = [sum(values[i, j] for i in range(rows)) / rows for j in range(columns)]
    one = sum(columns * (m - mean) ** 2 for m in of_row) / (rows - 1)
    two = sum(rows * (m - mean) ** 2 for m in of_column) / (columns - 1)
    rest = sum(
        (values[i, j] - of_row[i] - of_column[j] + mean) ** 2
        for i in range(rows)
        for j in range(columns)
    ) / ((rows - 1) * (columns - 1))
    found = components(values)
    expected = [(one - rest) / columns, (two - rest) / rows, rest]
    assert [each.variance for each in found] == pytest.approx(expected, rel=1e-9)
    assert [each.degrees for each in found] == [2, 3, 6]
    assert found[0].p == pytest.approx(stats.f.sf(one / rest, 2, 6))
    assert found[1].p == pytest.approx(stats.f.sf(two / rest, 3, 6))
    assert found[2].low == pytest.approx(6 * rest / stats.chi2.isf(0.025, 6))
    assert found[2].high == pytest.approx(6 * rest / stats.chi2.isf(0.975, 6))


@pytest.mark.parametrize(
    ("shape", "sds"),
    [((3, 5), (2, 1, 1)), ((6, 3), (2, 1, 1)), ((40, 3), (0.3, 1, 1)), ((40, 3), (0.03, 0.1, 0.1))],
)
def test_ends_are_those_of_ting_et_al_1990(shape, sds):
    """The formulas of the paper for a difference of two mean squares, with SciPy's quantiles."""
    values = drawn(np.random.default_rng(4), shape, sds)
    rows, columns = shape
    effect, _, residual = components(values)
    one, other = columns * effect.variance + residual.variance, residual.variance
    n, m = rows - 1, (rows - 1) * (columns - 1)
    alpha = 0.025
    g1 = 1 - n / stats.chi2.isf(alpha, n)
    h1 = n / stats.chi2.isf(1 - alpha, n) - 1
    g2 = 1 - m / stats.chi2.isf(alpha, m)
    h2 = m / stats.chi2.isf(1 - alpha, m) - 1
    f_alpha, f_rest = stats.f.isf(alpha, n, m), stats.f.isf(1 - alpha, n, m)
    g12 = ((f_alpha - 1) ** 2 - g1**2 * f_alpha**2 - h2**2) / f_alpha
    h12 = ((1 - f_rest) ** 2 - h1**2 * f_rest**2 - g2**2) / f_rest
    lower = g1**2 * one**2 + h2**2 * other**2 + g12 * one * other
    upper = h1**2 * one**2 + g2**2 * other**2 + h12 * one * other
    difference = one - other
    expected_low = max(0.0, (difference - np.sqrt(lower)) / columns)
    expected_high = (difference + np.sqrt(upper)) / columns
    assert (effect.low, effect.high) == pytest.approx((expected_low, expected_high), rel=1e-4)


@pytest.mark.parametrize("shape", [(3, 3), (5, 4)])
@pytest.mark.parametrize("sds", [(2.0, 1.0, 1.0), (0.0, 1.0, 2.0), (0.3, 0.3, 1.0)])
def test_estimates_are_unbiased_and_intervals_cover(shape, sds):
    """600 layouts: means within 4 standard errors, 95% intervals in at least 92%."""
    rng = np.random.default_rng(1)
    found = [components(drawn(rng, shape, sds)) for _ in range(600)]
    for number, deviation in enumerate(sds):
        own = [each[number] for each in found]
        estimates = np.array([each.variance for each in own])
        error = estimates.std(ddof=1) / np.sqrt(len(estimates))
        assert abs(estimates.mean() - deviation**2) < 4 * error
        covered = np.mean([each.low <= deviation**2 <= each.high for each in own])
        assert covered > 0.92, (number, covered)
    if sds[0] == 0:
        assert min(each[0].variance for each in found) < 0  # given as it is
        assert min(each[0].low for each in found) == 0


@pytest.mark.parametrize("kind", ["normal", "failed runs", "few examples"])
def test_seeds_without_effect_are_not_called_one(kind):
    """At most 7% of 1,500 layouts of 3 × 3, also if runs fail at random or scores are rounded."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(1500):
        values = rng.normal(70, 1, (3, 3))
        if kind == "failed runs":
            values = np.where(rng.random((3, 3)) < 0.3, 50.0, values)
        if kind == "few examples":
            values = np.round(values)
        found.append([each.p for each in components(values)[:2]])
    assert (np.array(found) < 0.05).mean() <= 0.07


def test_a_plain_effect_is_found():
    rng = np.random.default_rng(3)
    found = [components(drawn(rng, (3, 3), (10, 0, 1))) for _ in range(200)]
    assert np.mean([each[0].p < 0.05 for each in found]) > 0.9
    assert np.mean([each[1].p < 0.05 for each in found]) < 0.09


def test_rows_that_differ_by_a_constant_leave_no_doubt():
    found = components(np.array([[60.0, 61.0, 63.0]]) + np.array([[0.0], [5.0]]))
    assert [each.p for each in found[:2]] == [0, 0]
    assert found[0].variance == pytest.approx(12.5)
    assert (found[2].variance, found[2].low, found[2].high) == (0, 0, 0)


def test_equal_scores_have_no_variance():
    for each in components(np.full((3, 3), 52.7)):
        assert (each.variance, each.low, each.high) == (0, 0, 0)
