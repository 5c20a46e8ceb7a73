"""Scores of a sweep against scikit-learn and SciPy."""

import dataclasses

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from glue import TASKS
from sweeps import sweep

from darksecrets.ablation import scores
from darksecrets.run.errors import InputError

PAIRS = [(task, metric) for task in ("MRPC", "STS-B", "MNLI") for metric in TASKS[task].metrics]


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


@pytest.mark.parametrize("rounding", [0.0, 2e-7])
def test_predictions_that_are_all_equal_have_the_correlation_0(rounding):
    result = sweep("STS-B")
    result.predictions[3] = 2.5 + rounding * np.random.default_rng(0).normal(size=len(result.idx))
    for scored in scores.plain(result, TASKS["STS-B"]).values():
        assert scored[3] == 0


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
