"""Scores of a sweep's disabled sets, plain or on weighted examples."""

from __future__ import annotations

import numpy as np

from darksecrets.core.arrays import Floats
from darksecrets.core.data import metrics
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.weighted import Weighted


def require_usable(result: SweepResult, task: Task) -> None:
    """Check that a sweep's scores can be compared.

    Raises:
        InputError: The predictions' type does not fit the task, a number is not finite, there is no
            disabled set, or all labels are equal. The message says what to do.
    """

    def fail(found: str, expected: str) -> None:
        raise InputError(f"{task.name}: {found} instead of {expected}.")

    if np.issubdtype(result.predictions.dtype, np.floating) != task.is_regression:
        kind = "real numbers" if task.is_regression else "class numbers"
        fail(f"predictions of type {result.predictions.dtype}", f"{kind}. Run the sweep again")
    if not (np.isfinite(result.predictions).all() and np.isfinite(result.labels).all()):
        fail("predictions or labels that are not finite", "numbers. The model may have diverged")
    if len(result.sets) < 2:
        fail("no disabled set beside the baseline", "heads or layers. Run the sweep again")
    if len(np.unique(result.labels)) < 2:
        fail(
            f"the label {result.labels[0] if len(result.labels) else 'of no example'} only",
            "a validation split with different labels; use another one",
        )


def plain(result: SweepResult, task: Task) -> dict[str, Floats]:
    """Scores on the validation set, as Table 1 computes them.

    Returns:
        By metric: [sets], in [0, 1] or [-1, 1].
    """
    rows = [metrics.score(task, predictions, result.labels) for predictions in result.predictions]
    return {metric: np.array([row[metric] for row in rows]) for metric in task.metrics}


def weighted(result: SweepResult, metric: str) -> Weighted:
    """Prepare a metric for scoring bootstrap samples.

    Conventions are those of `core.data.metrics`: ratios without a divisor are 0, and so is a
    correlation if all predictions are equal. Scores of a regression are also 0 on a resample whose
    labels are all equal, for every set.

    Args:
        result: A sweep.
        metric: One of the task's metrics.

    Returns:
        A function from weights, [resamples, examples] whole numbers, to [resamples, sets] scores.
    """
    return metrics.METRICS[metric].weighted(result.predictions, result.labels)
