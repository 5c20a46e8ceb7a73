"""Scores of weighted examples against the project's metrics, scikit-learn and SciPy."""

import dataclasses

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from sweeps import sweep

from darksecrets.ablation import scores
from darksecrets.data import metrics
from darksecrets.data.tasks import TASKS
from darksecrets.run.errors import InputError

PAIRS = [(task, metric) for task in ("MRPC", "STS-B", "MNLI") for metric in TASKS[task].metrics]


@pytest.mark.parametrize(("task", "metric"), PAIRS)
def test_weights_are_how_often_an_example_counts(task, metric):
    result = sweep(task, examples=37)
    if task == "STS-B":  # ties within the predictions, too
        result = dataclasses.replace(result, predictions=np.round(result.predictions, 1))
    weights = np.random.default_rng(1).multinomial(37, np.full(37, 1 / 37), size=20)
    found = scores.weighted(result, metric)(weights)
    assert found.shape == (20, len(result.sets))
    for row, counts in enumerate(weights):
        drawn = np.repeat(np.arange(37), counts)
        for number, predictions in enumerate(result.predictions):
            expected = metrics.score(TASKS[task], predictions[drawn], result.labels[drawn])[metric]
            assert found[row, number] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("task", "metric"), PAIRS)
def test_plain_scores_are_those_of_the_libraries(task, metric):
    result = sweep(task)
    reference = {
        "accuracy": sklearn.metrics.accuracy_score,
        "f1": sklearn.metrics.f1_score,
        "pearson": lambda y, x: scipy.stats.pearsonr(x.astype(float), y).statistic,
        "spearman": lambda y, x: scipy.stats.spearmanr(x, y).statistic,
    }[metric]
    expected = [reference(result.labels, predictions) for predictions in result.predictions]
    assert scores.plain(result, TASKS[task])[metric] == pytest.approx(expected, abs=1e-9)
    ones = np.ones((1, len(result.idx)), dtype=np.int64)
    assert scores.weighted(result, metric)(ones)[0] == pytest.approx(expected, abs=1e-9)


def test_single_precision_counts_exactly_at_the_size_of_qqp():
    result = sweep("QQP", examples=40_430, layers=1, heads=1)
    weights = np.random.default_rng(0).integers(0, 4, size=(1, 40_430))
    right = (result.predictions == result.labels).astype(np.int64) @ weights[0]
    found = scores.weighted(result, "accuracy")(weights)[0]
    assert (found == right / weights.sum()).all()


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
@pytest.mark.parametrize("rounding", [0.0, 2e-7])
def test_predictions_that_are_all_equal_have_the_correlation_0(metric, rounding):
    result = sweep("STS-B")
    predictions = result.predictions.copy()
    predictions[3] = 2.5 + rounding * np.random.default_rng(0).normal(size=len(result.idx))
    result = dataclasses.replace(result, predictions=predictions)
    weights = np.random.default_rng(1).multinomial(40, np.full(40, 1 / 40), size=5)
    assert (scores.weighted(result, metric)(weights)[:, 3] == 0).all()
    assert scores.plain(result, TASKS["STS-B"])[metric][3] == 0


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_a_resample_of_one_example_has_the_correlation_0(metric):
    weights = np.zeros((1, 40), dtype=np.int64)
    weights[0, 7] = 40
    assert (scores.weighted(sweep("STS-B"), metric)(weights) == 0).all()


def test_f1_without_class_1_is_0():
    result = sweep("MRPC")
    weights = ((result.labels == 0) & (result.predictions == 0).all(axis=0)).astype(np.int64)
    assert weights.any()
    assert (scores.weighted(result, "f1")(weights[None]) == 0).all()


def change(result, **arrays):
    return dataclasses.replace(result, **arrays)


@pytest.mark.parametrize(
    ("task", "spoil", "message"),
    [
        ("STS-B", lambda r: change(r, predictions=r.predictions.astype(int)), "real numbers"),
        ("RTE", lambda r: change(r, predictions=r.predictions.astype(float)), "class numbers"),
        ("STS-B", lambda r: change(r, predictions=r.predictions * np.nan), "not finite"),
        ("RTE", lambda r: change(r, labels=np.ones_like(r.labels)), "label 1 only"),
        ("STS-B", lambda r: change(r, labels=np.zeros_like(r.labels)), r"label 0\.0 only"),
        ("RTE", lambda r: change(r, sets=r.sets[:1], predictions=r.predictions[:1]), "no disabled"),
    ],
)
def test_a_sweep_that_cannot_be_compared_is_refused(task, spoil, message):
    with pytest.raises(InputError, match=f"{task}: found .*{message}"):
        scores.require_usable(spoil(sweep(task)), TASKS[task])
