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


def test_random_orders_are_beyond_the_bound_in_a_twentieth():
    rng = np.random.default_rng(0)
    orders = rng.permuted(np.tile(np.arange(25.0), (4000, 1)), axis=1)
    share = (np.abs(kendall(orders, np.arange(25.0))) > least_significant(25)).mean()
    assert share == pytest.approx(0.05, abs=0.012)
