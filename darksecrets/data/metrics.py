"""The GLUE metrics that the paper reports (section 3, Table 1), from logits and labels."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from darksecrets.run.errors import InputError
from darksecrets.stats.correlation import is_constant

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from darksecrets.data.tasks import Task

PERCENT = 100.0
"""Factor from scores to percent: tables are in percent, functions return fractions."""
NAMES = {"f1": "F1", "accuracy": "Acc", "pearson": "Pearson", "spearman": "Spearman"}
"""Names of the metrics in tables and figures."""

_log = logging.getLogger(__name__)


def compute(task: Task, logits: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """Compute the scores of a task.

    Args:
        task: Names the metrics.
        logits: Outputs of the classifier, [examples, ``task.num_labels``].
        labels: [examples]; class indices, or real numbers for regression.

    Returns:
        By name, in the order of ``task.metrics``: ``accuracy`` and ``f1`` (of class 1) in [0, 1],
        ``pearson`` and ``spearman`` in [-1, 1]. Never NaN.

    Raises:
        InputError: If a logit or label is not finite, the shapes do not match, there are no
            examples, or a correlation is requested while all labels are equal.
    """
    outputs, truth = np.asarray(logits, dtype=np.float64), np.asarray(labels)
    if outputs.shape != (len(truth), task.num_labels) or len(truth) == 0:
        raise InputError(
            f"{task.name}: found logits of shape {outputs.shape} for {len(truth)} labels, expected "
            f"one row of {task.num_labels} per label, and at least one."
        )
    if not (np.isfinite(outputs).all() and np.isfinite(truth).all()):
        raise InputError(
            f"{task.name}: found logits or labels that are not finite numbers; no score can be "
            "computed from them. The model has diverged, or its weights are damaged."
        )
    return score(task, predict(task, outputs), truth)


def score(
    task: Task, predictions: NDArray[np.generic], labels: NDArray[np.generic]
) -> dict[str, float]:
    """Compute the scores of a task from predictions, for callers that have no logits.

    Args:
        task: Names the metrics.
        predictions: [examples]; class indices, or real numbers for regression.
        labels: [examples], likewise.
    """
    return {name: _METRICS[name](predictions, labels) for name in task.metrics}


def predict(task: Task, logits: NDArray[np.floating]) -> NDArray[np.floating | np.integer]:
    """Class index of the largest logit (the first if several are equal), or the regression output.

    Args:
        task: Determines which.
        logits: [examples, ``task.num_labels``].

    Returns:
        [examples].
    """
    return logits[:, 0] if task.is_regression else logits.argmax(axis=1)


def accuracy(predictions: NDArray[np.generic], labels: NDArray[np.generic]) -> float:
    """Share of the examples whose class is predicted correctly."""
    return float(np.mean(predictions == labels))


def f1(predictions: NDArray[np.generic], labels: NDArray[np.generic]) -> float:
    """Harmonic mean of precision and recall of class 1; 0 where that class is never predicted."""
    hits = np.sum((predictions == 1) & (labels == 1))
    positives = np.sum(predictions == 1) + np.sum(labels == 1)
    return float(2 * hits / positives) if positives else 0.0


def pearson(predictions: NDArray[np.generic], labels: NDArray[np.generic]) -> float:
    """Pearson's correlation.

    It is undefined if all predictions are equal. It then counts as 0 (such predictions say nothing
    about the labels; likewise, F1 is 0 if class 1 is never predicted), and a warning is logged.
    Equal means up to the rounding of a float32 model, see `stats.correlation.EQUAL`.
    """
    x, y = np.asarray(predictions, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if np.ptp(y) == 0:
        raise InputError(
            f"All {len(y)} labels are {y[0]:g}, so a correlation with them is undefined. "
            "Expected a validation split with different labels."
        )
    return _correlation(x, y) if _differ(x) else 0.0


def spearman(predictions: NDArray[np.generic], labels: NDArray[np.generic]) -> float:
    """Spearman's correlation; equal values share the mean of their ranks.

    If all predictions are equal, it counts as 0, see `pearson`.
    """
    return pearson(_ranks(predictions), _ranks(labels)) if _differ(predictions) else 0.0


def _differ(predictions: NDArray[np.generic]) -> bool:
    constant = bool(is_constant(predictions))
    if constant:
        _log.warning(
            "All %d predictions are equal; their correlation counts as 0.", len(predictions)
        )
    return not constant


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def _ranks(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Ranks from 1; ties share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: NDArray[np.float64] = last - (counts - 1) / 2
    return means[place]


_METRICS = {"accuracy": accuracy, "f1": f1, "pearson": pearson, "spearman": spearman}
