"""Correlations from moments against SciPy, and where they are undefined."""

import numpy as np
import pytest
import scipy.stats

from darksecrets.core.stats.correlation import (
    EQUAL,
    correlation,
    drop_rounding,
    is_constant,
    ratio,
    standardized,
)


def scaled(values, ranks):
    """Standardized values, or ranks of values for Spearman's correlation."""
    return standardized(scipy.stats.rankdata(values, axis=-1) if ranks else values)


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    return np.round(rng.normal(size=(5, 30)), 1), np.round(rng.normal(size=30), 1)


@pytest.mark.parametrize(
    ("ranks", "reference"), [(False, scipy.stats.pearsonr), (True, scipy.stats.spearmanr)]
)
def test_mean_products_of_standardized_values_are_correlations(ranks, reference, values):
    rows, column = values
    found = (scaled(rows, ranks) * scaled(column, ranks)).mean(axis=1)
    assert found == pytest.approx([reference(row, column).statistic for row in rows], abs=1e-12)


def test_correlation_from_moments_is_numpys(values):
    rows, column = values
    covariance = ((rows - rows.mean(axis=1, keepdims=True)) * column).mean(axis=1)
    found = correlation(covariance, rows.var(axis=1), np.full(5, column.var()))
    assert found == pytest.approx([np.corrcoef(row, column)[0, 1] for row in rows], abs=1e-12)
    assert (correlation(np.ones(2), np.array([0.0, EQUAL**3]), np.ones(2)) == 0).all()


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e20])
def test_values_that_differ_by_rounding_are_constant(size):
    rows = size * np.array([[1, 1, 1], [1, 1 + 1e-7, 1], [1, 1 + 1e-5, 1], [0, 0, 0]])
    assert is_constant(rows).tolist() == [True, True, False, True]
    made_equal = drop_rounding(rows)
    assert (made_equal[[0, 1, 3]] == 0).all()
    assert (made_equal[2] == rows[2]).all()
    assert rows[0, 0] == size  # the original is unchanged


def test_constant_values_standardize_to_0():
    assert (standardized(np.full(4, 3.0)) == 0).all()
    assert (scaled(np.full(4, 3.0), ranks=True) == 0).all()


def test_a_ratio_over_0_is_0():
    assert ratio(np.array([3.0, 1.0]), np.array([2, 0])).tolist() == [1.5, 0.0]
