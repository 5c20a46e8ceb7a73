"""Scores of many sets of predictions on weighted examples, as matrix products.

A bootstrap sample of a validation set is an integer per example: how often it was drawn. Accuracy,
F1 and Pearson's correlation need only sums over examples (so does Spearman's, once each sample is
ranked), so scoring 157 sets of predictions on a thousand samples takes a few matrix products.

Each function takes the predictions once and returns a function of the weights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from darksecrets.stats.correlation import correlation, ratio, standardized, without_rounding

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Weighted = Callable[[Counts], Floats]
"""Maps integer weights [resamples, examples] to scores [resamples, sets]."""


def accuracy(predictions: npt.NDArray[np.generic], labels: npt.NDArray[np.generic]) -> Weighted:
    """Share of the examples whose class is predicted correctly.

    Args:
        predictions: [sets, examples] class indices.
        labels: [examples] class indices.
    """
    right = _transposed(predictions == labels)

    def score(weights: Counts) -> Floats:
        return ratio(_sums(weights, right), weights.sum(axis=1, keepdims=True))

    return score


def f1(predictions: npt.NDArray[np.generic], labels: npt.NDArray[np.generic]) -> Weighted:
    """F1 of class 1; 0 where it is neither predicted nor present.

    Args:
        predictions: [sets, examples] class indices.
        labels: [examples] class indices.
    """
    positive = predictions == 1
    hits, predicted = _transposed(positive & (labels == 1)), _transposed(positive)
    gold = _transposed((labels == 1)[None])

    def score(weights: Counts) -> Floats:
        positives = _sums(weights, predicted) + _sums(weights, gold)
        return ratio(2 * _sums(weights, hits), positives)

    return score


def _transposed(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """[examples, sets]; in single precision, where sums of counts below 2^24 are exact."""
    return np.ascontiguousarray(flags.T, dtype=np.float32)


def _sums(weights: Counts, flags: npt.NDArray[np.float32]) -> Floats:
    return (weights.astype(np.float32) @ flags).astype(np.float64)


def pearson(predictions: npt.NDArray[np.generic], labels: npt.NDArray[np.generic]) -> Weighted:
    """Pearson's correlation; 0 where the predictions or the labels drawn are constant.

    Args:
        predictions: [sets, examples] real numbers.
        labels: [examples] real numbers.
    """
    scaled, y = standardized(without_rounding(predictions)), standardized(labels)
    columns = [scaled.T, (scaled**2).T, (scaled * y).T]
    x, xx, xy = (np.ascontiguousarray(column) for column in columns)

    def score(weights: Counts) -> Floats:
        total = weights.sum(axis=1, keepdims=True)
        w = weights / total
        mean, mean_y = w @ x, (w @ y)[:, None]
        spread = w @ xx - mean**2
        spread_y = (w @ y**2)[:, None] - mean_y**2
        return correlation(w @ xy - mean * mean_y, spread, spread_y)

    return score


def spearman(predictions: npt.NDArray[np.generic], labels: npt.NDArray[np.generic]) -> Weighted:
    """Spearman's correlation; 0 where the predictions or the labels drawn are constant.

    Args:
        predictions: [sets, examples] real numbers.
        labels: [examples] real numbers.
    """
    rank_labels = _ranker(labels.astype(np.float64))
    rankers = [_ranker(row) for row in without_rounding(predictions)]

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
    """Prepare ranking the examples within resamples; equal values share their mean rank.

    Returns:
        Function from [resamples, examples] weights to ranks of the same shape, from 1.
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
