"""Metrics of tasks, under scikit-learn's names where it has them; one entry of `METRICS` for each.

An entry says how the metric is called in tables and figures, which tasks it fits, and how it is
computed: from predictions, and on weighted examples (bootstrap samples, halves of a data set).
A metric of classes is one function of the counts of each class, which serves both.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from darksecrets.core.arrays import Floats
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats import classification as of
from darksecrets.core.stats import weighted
from darksecrets.core.stats.correlation import is_constant

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

ACCURACY = "accuracy"

PERCENT = 100.0
"""Factor from scores to percent: tables are in percent, functions return fractions."""

Kind = Literal["two classes", "classes", "regression"]
"""Tasks that a metric fits; metrics of classes fit any number of them."""

_log = logging.getLogger(__name__)


class Scored(Protocol):
    """What is used here of a `core.data.tasks.Task`."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def metrics(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def num_labels(self) -> int: ...  # noqa: D102
    @property
    def is_regression(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True)
class Metric:
    """A score of a task.

    Attributes:
        name: Name in configurations and tables.
        title: Name in figures and Table 1.
        kind: Tasks that it fits.
        plain: Computes it from predictions and labels, both [examples].
        weighted: Prepares it for weighted examples, from predictions [sets, examples] and labels.
        counted: Computes it from counts of each class; None for regression.
        lowest: Its lower bound; the upper one is 1.
    """

    name: str
    title: str
    kind: Kind
    plain: Callable[[NDArray[np.generic], NDArray[np.generic]], float]
    weighted: Callable[[NDArray[np.generic], NDArray[np.generic]], weighted.Weighted]
    counted: of.Score | None = None
    lowest: float = 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        """Its lowest and highest value."""
        return self.lowest, 1.0

    @property
    def bounds_of_differences(self) -> tuple[float, float]:
        """The lowest and highest difference of two scores."""
        return self.lowest - 1.0, 1.0 - self.lowest

    def fits(self, classes: int) -> bool:
        """Whether a task with this number of classes (0 for regression) can have the metric."""
        if self.kind == "regression" or classes == 0:
            return self.kind == "regression" and classes == 0
        return self.kind == "classes" or classes == 2


def fitting(classes: int) -> tuple[str, ...]:
    """Names of all metrics that a task with this number of classes (0 for regression) can have."""
    return tuple(name for name, metric in METRICS.items() if metric.fits(classes))


def compute(task: Scored, logits: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """Compute the scores of a task.

    Args:
        task: Names the metrics.
        logits: Outputs of the classifier, [examples, ``task.num_labels``].
        labels: [examples]; class indices, or real numbers for regression.

    Returns:
        By name, in the order of ``task.metrics``; at most 1, never NaN.

    Raises:
        InputError: If a logit or label is not finite, the shapes do not match, there are no
            examples, or a score of a regression is requested while all labels are equal.
    """
    outputs, truth = np.asarray(logits, dtype=np.float64), np.asarray(labels)
    if outputs.shape != (len(truth), task.num_labels) or len(truth) == 0:
        raise InputError(
            f"{task.name}: the logits have the shape {outputs.shape} for {len(truth)} labels; they "
            f"must have one row of {task.num_labels} for each label, and at least one row."
        )
    if not (np.isfinite(outputs).all() and np.isfinite(truth).all()):
        raise InputError(
            f"{task.name}: logits or labels are not finite numbers; no score can be "
            "computed from them. The model has diverged, or its weights are damaged."
        )
    return score(task, predict(task, outputs), truth)


def score(
    task: Scored, predictions: NDArray[np.generic], labels: NDArray[np.generic]
) -> dict[str, float]:
    """Compute the scores of a task from predictions, for callers that have no logits.

    Args:
        task: Names the metrics.
        predictions: [examples]; class indices, or real numbers for regression.
        labels: [examples], likewise.
    """
    return {name: METRICS[name].plain(predictions, labels) for name in task.metrics}


def score_resampled(
    metric: str,
    predictions: NDArray[np.generic],
    labels: NDArray[np.generic],
    units: NDArray[np.int64],
    resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Score several models in percent, on the examples and on bootstrap samples of them.

    Args:
        metric: Name of the metric.
        predictions: [models, examples].
        labels: [examples].
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
        resamples: Number of bootstrap samples, the same for all models.
        rng: Source of randomness.

    Returns:
        [1 + resamples, models]; the first row is of the examples as they are.
    """
    weigh = METRICS[metric].weighted(predictions, labels)
    plain = weigh(np.ones((1, len(labels)), dtype=np.int64))
    return PERCENT * np.concatenate([plain, weighted.resampled(weigh, units, resamples, rng)])


def score_of_most_frequent(labels: NDArray[np.generic], metric: str, task: Scored) -> float:
    """Score in percent of always predicting the most frequent label; 0 for a regression."""
    if task.is_regression:
        return 0.0
    most_frequent = np.bincount(labels.astype(np.int64)).argmax()
    return PERCENT * METRICS[metric].plain(np.full_like(labels, most_frequent), labels)


def predict(task: Scored, logits: NDArray[np.floating]) -> NDArray[np.floating | np.integer]:
    """Class index of the largest logit (the first if several are equal), or the regression output.

    Args:
        task: Determines which.
        logits: [examples, ``task.num_labels``].

    Returns:
        [examples].
    """
    return logits[:, 0] if task.is_regression else logits.argmax(axis=1)


def pearson(predictions: NDArray[np.generic], labels: NDArray[np.generic]) -> float:
    """Pearson's correlation.

    It is undefined if all predictions are equal. It then counts as 0 (such predictions say nothing
    about the labels; likewise, F1 is 0 if class 1 is never predicted), and a warning is logged.
    Equal means up to the rounding of a float32 model, see `core.stats.correlation.EQUAL`.
    """
    x, y = _numbers(predictions, labels)
    return _correlation(x, y) if _differ(x) else 0.0


def spearman(predictions: NDArray[np.generic], labels: NDArray[np.generic]) -> float:
    """Spearman's correlation; equal values share the mean of their ranks.

    If all predictions are equal, it counts as 0, see `pearson`.
    """
    return pearson(_ranks(predictions), _ranks(labels)) if _differ(predictions) else 0.0


def r2(predictions: NDArray[np.generic], labels: NDArray[np.generic]) -> float:
    """Coefficient of determination: the share of the labels' variance that is predicted.

    It is 0 for the mean label, and negative for worse predictions.
    """
    x, y = _numbers(predictions, labels)
    return float(1 - np.sum((y - x) ** 2) / np.sum((y - y.mean()) ** 2))


def _numbers(
    predictions: NDArray[np.generic], labels: NDArray[np.generic]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both in double precision; the labels must differ."""
    y = np.asarray(labels, dtype=np.float64)
    if np.ptp(y) == 0:
        raise InputError(
            f"All {len(y)} labels are {y[0]:g}, so a correlation with them is undefined. "
            "Expected a validation split with different labels."
        )
    return np.asarray(predictions, dtype=np.float64), y


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


def _class_metric(
    name: str, title: str, score: of.Score, kind: Kind = "classes", lowest: float = 0.0
) -> Metric:
    """A metric that is a function of counts of each class."""

    def plain(predictions: NDArray[np.generic], labels: NDArray[np.generic]) -> float:
        return float(score(of.count(predictions, labels, of.classes_of(predictions, labels))))

    return Metric(name, title, kind, plain, partial(weighted.class_score, score), score, lowest)


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            _class_metric("f1", "F1", of.f1, "two classes"),
            _class_metric("accuracy", "Acc", of.accuracy),
            Metric("pearson", "Pearson", "regression", pearson, weighted.pearson, lowest=-1.0),
            Metric("spearman", "Spearman", "regression", spearman, weighted.spearman, lowest=-1.0),
            _class_metric("balanced_accuracy", "Balanced acc", of.balanced_accuracy),
            _class_metric("f1_macro", "Macro F1", of.f1_macro),
            _class_metric("f1_micro", "Micro F1", of.f1_micro),
            _class_metric("f1_weighted", "Weighted F1", of.f1_weighted),
            _class_metric("precision", "Precision", of.precision, "two classes"),
            _class_metric("precision_macro", "Macro precision", of.precision_macro),
            _class_metric("precision_weighted", "Weighted precision", of.precision_weighted),
            _class_metric("recall", "Recall", of.recall, "two classes"),
            _class_metric("recall_macro", "Macro recall", of.recall_macro),
            _class_metric("recall_weighted", "Weighted recall", of.recall_weighted),
            _class_metric("matthews_corrcoef", "Matthews", of.matthews_corrcoef, lowest=-1.0),
            Metric("r2", "R²", "regression", r2, weighted.r2, lowest=-math.inf),
        )
    }
)
"""Every metric by name; docs/tasks.md lists them."""


_PROPER = ("F1", "Pearson", "Spearman", "Matthews", "R²")
"""Titles that begin with a name."""


def titles(metrics: Mapping[str, str], name: Callable[[str], str]) -> Callable[[str], str]:
    """A function that gives a task with its score, as the title of a panel.

    Args:
        metrics: The metric of every task.
        name: What the figure calls a task.
    """
    return lambda task: titled(name(task), metrics[task])


def titled(task: str, metric: str) -> str:
    """A task and how it is scored."""
    return f"{task} ({METRICS[metric].title})"


def spoken(metric: str) -> str:
    """What a sentence calls a metric, such as "accuracy", "macro F1", "Pearson"."""
    title = METRICS[metric].title
    words = title if title.startswith(_PROPER) else title[0].lower() + title[1:]
    return re.sub(r"\bacc$", "accuracy", words)


def main_metric_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the main metric of every task, which is its first; the task is called ``on``."""
    rows = table[table["metric"] == table.groupby("task")["metric"].transform("first")]
    return rows.rename(columns={"task": "on"})


def accuracy_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The same of accuracy, where a task has it."""
    task_metrics = table.groupby("task")["metric"]
    has = task_metrics.transform(lambda metrics: (metrics == ACCURACY).any()).astype(bool)
    chosen = task_metrics.transform("first").where(~has, ACCURACY)
    return table[table["metric"] == chosen].rename(columns={"task": "on"})
