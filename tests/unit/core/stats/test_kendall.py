"""Kendall's τ against SciPy's, one pair of rankings at a time."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from darksecrets.core.stats.kendall import kendall, least_significant


@pytest.mark.parametrize("items", [2, 3, 7, 40])
@pytest.mark.parametrize("values", [3, 1000], ids=["ties", "almost no ties"])
def test_it_is_scipys(items, values):
    rng = np.random.default_rng(items)
    first = rng.integers(values, size=(4, 5, items)).astype(float)
    second = rng.integers(values, size=(5, items)).astype(float)
    found = kendall(first, second)
    for place in np.ndindex(4, 5):
        expected = kendalltau(first[place], second[place[1]]).statistic
        assert found[place] == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_a_side_of_ties_and_one_item_have_none():
    assert np.isnan(kendall([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))
    assert np.isnan(kendall([1.0], [1.0]))


@pytest.mark.parametrize("items", [6, 25])
def test_an_order_is_beyond_the_bound_if_scipys_normal_approximation_says_so(items):
    rng = np.random.default_rng(0)
    orders = rng.permuted(np.tile(np.arange(float(items)), (4000, 1)), axis=1)
    found = kendall(orders, np.arange(items))
    beyond = np.abs(found) > least_significant(items)
    _, first = np.unique(np.abs(found).round(6), return_index=True)
    for number in first:
        p = kendalltau(orders[number], np.arange(items), method="asymptotic").pvalue
        assert beyond[number] == (p < 0.05)
    if items == 25:
        assert beyond.mean() == pytest.approx(0.05, abs=0.012)
