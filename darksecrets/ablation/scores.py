"""Scores of every disabled set at once, on the examples as they are or as often as weights say.

A resample of the validation set is a whole number per example: how often it was drawn. The scores
of the paper need sums over examples only (Spearman's correlation after ranking the resample), so
that a thousand resamples of 157 disabled sets are a few matrix products.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from darksecrets.ablation.results import SweepResult
from darksecrets.data import metrics
from darksecrets.data.tasks import Task
from darksecrets.run.errors import InputError

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Weighted = Callable[[Counts], Floats]
"""From [resamples, examples] weights to [resamples, sets] scores."""


def require_usable(result: SweepResult, task: Task) -> None:
    """Check that a sweep's scores can be compared.

    Raises:
        InputError: Predictions of another kind than the task's, or numbers that are not finite, no
            disabled set, or labels that are all equal; says what to do.
    """

    def fail(found: str, expected: str) -> None:
        raise InputError(f"{task.name}: found {found}, expected {expected}.")

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
    """Prepare a metric for scoring resamples.

    Conventions are those of `darksecrets.data.metrics`: F1 is 0 where class 1 is neither predicted
    nor there, a correlation 0 where the predictions are all equal. A resample whose labels are all
    equal has the correlation 0, too; it cannot tell sets apart.

    Args:
        result: A sweep.
        metric: One of the task's metrics.

    Returns:
        A function from weights, [resamples, examples] whole numbers, to [resamples, sets] scores.
    """
    prepare = {"accuracy": _accuracy, "f1": _f1, "pearson": _pearson, "spearman": _spearman}
    return prepare[metric](result)


def standardized(result: SweepResult, metric: str) -> tuple[Floats, Floats]:
    """Predictions and labels with mean 0 and mean square 1: a correlation is their mean product.

    For Spearman's correlation, of the ranks. Predictions that are all equal become 0.

    Returns:
        [sets, examples] and [examples].
    """
    predictions, labels = _leveled(result.predictions), result.labels.astype(np.float64)
    if metric == "spearman":
        predictions, labels = rankdata(predictions, axis=1), rankdata(labels)
    return _standardize(predictions), _standardize(labels)


def _standardize(values: Floats) -> Floats:
    centered = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.mean(centered**2, axis=-1, keepdims=True))
    return _ratio(centered, spread)


def _leveled(predictions: npt.NDArray[np.generic]) -> Floats:
    """Predictions in double precision; those that differ by rounding only are made equal."""
    values = predictions.astype(np.float64)
    equal = np.ptp(values, axis=1) <= metrics.EQUAL * np.abs(values).max(axis=1)
    values[equal] = 0.0
    return values


def _accuracy(result: SweepResult) -> Weighted:
    right = _transposed(result.predictions == result.labels)

    def score(weights: Counts) -> Floats:
        return _ratio(_sums(weights, right), weights.sum(axis=1, keepdims=True))

    return score


def _f1(result: SweepResult) -> Weighted:
    positive = result.predictions == 1
    hits, predicted = _transposed(positive & (result.labels == 1)), _transposed(positive)
    gold = _transposed((result.labels == 1)[None])

    def score(weights: Counts) -> Floats:
        positives = _sums(weights, predicted) + _sums(weights, gold)
        return _ratio(2 * _sums(weights, hits), positives)

    return score


def _transposed(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """[examples, sets]; in single precision, where sums of counts below 2^24 are exact."""
    return np.ascontiguousarray(flags.T, dtype=np.float32)


def _sums(weights: Counts, flags: npt.NDArray[np.float32]) -> Floats:
    return (weights.astype(np.float32) @ flags).astype(np.float64)


def _pearson(result: SweepResult) -> Weighted:
    predictions, labels = standardized(result, "pearson")
    columns = [predictions.T, (predictions**2).T, (predictions * labels).T]
    x, xx, xy = (np.ascontiguousarray(column) for column in columns)

    def score(weights: Counts) -> Floats:
        total = weights.sum(axis=1, keepdims=True)
        w = weights / total
        mean, mean_y = w @ x, (w @ labels)[:, None]
        spread = w @ xx - mean**2
        spread_y = (w @ labels**2)[:, None] - mean_y**2
        return correlation(w @ xy - mean * mean_y, spread, spread_y)

    return score


def _spearman(result: SweepResult) -> Weighted:
    rank_labels = _ranker(result.labels.astype(np.float64))
    rankers = [_ranker(row) for row in _leveled(result.predictions)]

    def score(weights: Counts) -> Floats:
        total = weights.sum(axis=1, keepdims=True)
        mean, root = (total + 1) / 2, np.sqrt(weights / total)
        y = (rank_labels(weights) - mean) * root
        scores = np.empty((len(weights), len(rankers)))
        for number, rank in enumerate(rankers):
            x = (rank(weights) - mean) * root
            sums = (np.vecdot(*pair) for pair in ((x, y), (x, x), (y, y)))
            scores[:, number] = correlation(*sums)
        return scores

    return score


def _ranker(values: Floats) -> Callable[[Counts], Floats]:
    """Prepare the ranks of every example in a resample; equal values share the mean rank.

    Returns:
        From [resamples, examples] weights to ranks of the same shape, from 1.
    """
    order = np.argsort(values, kind="stable")
    group = np.cumsum(np.r_[True, np.diff(values[order]) > 0]) - 1
    last = np.r_[np.flatnonzero(np.diff(group)), len(values) - 1]  # of each group of equal values
    place = np.empty_like(order)
    place[order] = group

    def rank(weights: Counts) -> Floats:
        ends = np.cumsum(weights[:, order], axis=1)[:, last]
        counts = np.diff(ends, axis=1, prepend=0)
        means: Floats = ends - (counts - 1) / 2
        return means[:, place]

    return rank


def correlation(products: Floats, spread: Floats, other: Floats) -> Floats:
    """Correlation of a covariance and two variances; 0 where a side varies by rounding only."""
    varies = np.minimum(spread, other) > metrics.EQUAL**2
    size = np.sqrt(np.where(varies, spread * other, 1.0))
    return np.where(varies, np.clip(products / size, -1.0, 1.0), 0.0)


def _ratio(over: Floats, under: Floats | Counts) -> Floats:
    """Quotients; 0 where nothing would be divided by."""
    quotients: Floats = np.divide(over, under, out=np.zeros_like(over), where=under > 0)
    return quotients
