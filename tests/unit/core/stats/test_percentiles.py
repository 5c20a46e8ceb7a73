"""Percentiles against SciPy and loops."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import quantile_test

from darksecrets.core.run.files import RESOURCES
from darksecrets.core.stats.percentiles import FEWEST, exceeds_percentile, median_interval


@pytest.mark.parametrize(("layers", "heads", "expected"), [(6, 6, 1), (6, 12, 1), (12, 12, 2)])
def test_the_highest_one_or_two_heads_are_above_the_99th_percentile(layers, heads, expected):
    weights = np.random.default_rng(0).random((layers, heads))
    marked = exceeds_percentile(weights)
    assert marked.shape == (layers, heads)
    assert sorted(weights[marked]) == sorted(weights.ravel())[-expected:]


def test_the_heads_that_the_paper_marks_are_above_in_its_published_weights():
    released = pd.read_csv(RESOURCES / "paper/framenet_heads_released.csv")
    marked = released[exceeds_percentile(released["weight"].to_numpy())]
    assert marked[["layer", "head"]].to_numpy().tolist() == [[1, 2], [7, 6]]


def test_values_that_tie_at_the_top_are_not_above():
    tied = np.minimum(np.arange(36.0), 30.0).reshape(6, 6)
    assert not exceeds_percentile(tied).any()
    assert not exceeds_percentile(np.full(5, 0.25)).any()


def test_another_percentile_leaves_its_share_above():
    values = np.random.default_rng(1).permutation(1001).astype(float)
    assert exceeds_percentile(values, 90).sum() == 100


@pytest.mark.parametrize("count", [FEWEST, 7, 20, 51])
def test_the_interval_of_a_median_is_that_of_scipy(count):
    values = np.random.default_rng(count).lognormal(size=count)
    expected = quantile_test(values, p=0.5).confidence_interval(0.95)
    assert median_interval(values) == (expected.low, expected.high)


def test_the_interval_of_a_median_covers_it_in_95_percent_of_samples():
    """Of any distribution, in a simulation: at least 94 % of 2000."""
    rng = np.random.default_rng(1)
    ends = np.array([median_interval(sample) for sample in rng.exponential(size=(2000, 9))])
    assert ((ends[:, 0] <= np.log(2)) & (np.log(2) <= ends[:, 1])).mean() > 0.94
