"""Scores against scikit-learn and SciPy."""

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from glue import TASKS

from darksecrets.core.data import metrics
from darksecrets.core.run.errors import InputError


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["MRPC", "QQP", "SST-2", "RTE", "QNLI", "MNLI"])
def test_classification_matches_sklearn(name, seed):
    task, rng = TASKS[name], np.random.default_rng(seed)
    logits = rng.normal(size=(97, task.num_labels)).astype(np.float32)
    labels = rng.integers(0, task.num_labels, 97)
    classes = [max(range(task.num_labels), key=lambda k, r=row: r[k]) for row in logits]
    scores = metrics.compute(task, logits, labels)
    assert tuple(scores) == task.metrics
    assert scores["accuracy"] == pytest.approx(
        sklearn.metrics.accuracy_score(labels, classes), abs=1e-12
    )
    if "f1" in scores:
        assert scores["f1"] == pytest.approx(sklearn.metrics.f1_score(labels, classes), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_regression_matches_scipy(seed, ties):
    rng = np.random.default_rng(seed)
    labels = np.round(rng.uniform(0, 5, 61) * 4) / 4 if ties else rng.uniform(0, 5, 61)
    predictions = labels + rng.normal(size=61)
    if ties:
        predictions = np.round(predictions)
    scores = metrics.compute(TASKS["STS-B"], predictions[:, None], labels.astype(np.float32))
    truth = labels.astype(np.float32)
    assert scores["pearson"] == pytest.approx(
        scipy.stats.pearsonr(predictions, truth).statistic, abs=1e-10
    )
    assert scores["spearman"] == pytest.approx(
        scipy.stats.spearmanr(predictions, truth).statistic, abs=1e-10
    )


def test_never_predicting_class_1_has_f1_0_as_in_the_papers_table():
    logits = np.tile([1.0, 0.0], (10, 1))
    labels = np.array([1] * 7 + [0] * 3)
    assert metrics.compute(TASKS["MRPC"], logits, labels) == {"f1": 0.0, "accuracy": 0.3}
    assert metrics.compute(TASKS["MRPC"], logits, np.zeros(10)) == {"f1": 0.0, "accuracy": 1.0}


@pytest.mark.parametrize("rounding", [0.0, 2e-7])
def test_correlation_of_equal_predictions_counts_as_0(rounding, caplog):
    labels = np.linspace(0, 5, 9)
    scores = metrics.compute(TASKS["STS-B"], (2.5 + rounding * labels)[:, None], labels)
    assert scores == {"pearson": 0.0, "spearman": 0.0}
    assert "9 predictions are equal" in caplog.text


def test_small_differences_that_are_not_rounding_count():
    labels = np.linspace(0, 5, 9)
    scores = metrics.compute(TASKS["STS-B"], (2.5 + 1e-5 * labels)[:, None], labels)
    assert scores == pytest.approx({"pearson": 1.0, "spearman": 1.0})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_not_finite_is_refused(bad):
    logits, labels = np.zeros((4, 2)), np.zeros(4)
    logits[2, 1] = bad
    with pytest.raises(InputError, match="not finite"):
        metrics.compute(TASKS["RTE"], logits, labels)
    with pytest.raises(InputError, match="not finite"):
        metrics.compute(TASKS["STS-B"], np.zeros((4, 1)), np.array([0, 1, bad, 2]))


def test_equal_labels_have_no_correlation():
    with pytest.raises(InputError, match="All 4 labels are 3"):
        metrics.compute(TASKS["STS-B"], np.arange(4.0)[:, None], np.full(4, 3.0))


@pytest.mark.parametrize("shape", [(4, 3), (3, 2), (0, 2)])
def test_shapes_must_fit(shape):
    with pytest.raises(InputError, match="must have one row of 2"):
        metrics.compute(TASKS["RTE"], np.zeros(shape), np.zeros(4 if shape[0] else 0))


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("accuracy", "accuracy"),
        ("balanced_accuracy", "balanced accuracy"),
        ("f1", "F1"),
        ("f1_macro", "macro F1"),
        ("pearson", "Pearson"),
        ("precision_weighted", "weighted precision"),
        ("r2", "R²"),
    ],
)
def test_sentences_call_metrics_by_words(metric, words):
    assert metrics.spoken(metric) == words
