"""Scores of weighted examples against the project's metrics on the examples drawn."""

import numpy as np
import pytest
from scipy import stats
from sweeps import sweep

from darksecrets.core.data import metrics
from darksecrets.core.stats import weighted

CORRELATIONS = [weighted.pearson, weighted.spearman]


def predicted(task, examples=40, **shape):
    result = sweep(task, examples, **shape)
    return result.predictions, result.labels


def test_single_precision_counts_exactly_at_the_size_of_qqp():
    predictions, labels = predicted("QQP", 40_430, layers=1, heads=1)
    weights = np.random.default_rng(0).integers(0, 4, size=(1, 40_430))
    right = (predictions == labels).astype(np.int64) @ weights[0]
    found = metrics.METRICS["accuracy"].weighted(predictions, labels)(weights)[0]
    assert (found == right / weights.sum()).all()


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("rounding", [0.0, 2e-7])
def test_predictions_that_are_all_equal_have_the_correlation_0(correlation, rounding):
    predictions, labels = predicted("STS-B")
    predictions[3] = 2.5 + rounding * np.random.default_rng(0).normal(size=len(labels))
    weights = np.random.default_rng(1).multinomial(40, np.full(40, 1 / 40), size=5)
    assert (correlation(predictions, labels)(weights)[:, 3] == 0).all()


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_a_resample_of_one_example_has_the_correlation_0(correlation):
    weights = np.zeros((1, 40), dtype=np.int64)
    weights[0, 7] = 40
    assert (correlation(*predicted("STS-B"))(weights) == 0).all()


@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_ranks_with_ties_are_those_of_scipy_on_the_examples_drawn(decimals):
    """More resamples than are ranked together; rounded numbers are tied, in both."""
    predictions, labels = predicted("STS-B")
    predictions, labels = predictions.round(decimals), labels.round(decimals)
    weights = np.random.default_rng(2).multinomial(40, np.full(40, 1 / 40), size=70)
    found = weighted.spearman(predictions, labels)(weights)
    for number, drawn in enumerate(weights):
        gold = np.repeat(labels, drawn)
        for place, row in enumerate(predictions):
            expected = stats.spearmanr(np.repeat(row, drawn), gold).statistic
            assert found[number, place] == pytest.approx(expected, abs=1e-12)
