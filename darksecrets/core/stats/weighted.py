"""Scores of many sets of predictions on weighted examples, as matrix products.

A bootstrap sample of a validation set is an integer per example: how often it was drawn. Scores of
classes need only sums over examples, and so does Pearson's correlation (and Spearman's, once each
sample is ranked), so scoring 157 sets of predictions on a thousand samples takes a few products.

Each function takes the predictions once and returns a function of the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from darksecrets.core.arrays import Flags, Floats, Integers, Singles, Values
from darksecrets.core.stats.classification import Counts, Score, classes_of
from darksecrets.core.stats.correlation import (
    correlation,
    drop_rounding,
    is_constant,
    ratio,
    standardized,
)
from darksecrets.core.stats.resampling import bootstrap_weights
from darksecrets.core.stats.units import count_units

Weights = Integers
Weighted = Callable[[Weights], Floats]
"""Maps integer weights [resamples, examples] to scores [resamples, sets]."""

_COLUMNS = 1024  # largest number of sums per resample in one matrix product
_RESAMPLES = 32  # ranked together, so that they stay in the cache of a CPU
_OVER_EXAMPLES = "er,er->r"  # sums of products of [examples, resamples]


def resampled(score: Weighted, units: Integers, resamples: int, rng: np.random.Generator) -> Floats:
    """Scores on bootstrap samples of the examples.

    Args:
        score: Scores of sets of predictions.
        units: [examples] number of each example's unit; those of a unit are drawn together, see
            `darksecrets.core.stats.units`.
        resamples: Number of bootstrap samples.
        rng: Source of randomness.

    Returns:
        [resamples, sets].
    """
    drawn = bootstrap_weights(resamples, count_units(units), rng)
    return np.concatenate([score(weights[:, units]) for weights in drawn])


def class_score(
    score: Score, predictions: npt.NDArray[np.integer], labels: npt.NDArray[np.integer]
) -> Weighted:
    """Prepare a score of classes for weighted examples.

    Args:
        score: A function of `darksecrets.core.stats.classification`.
        predictions: [sets, examples] numbers of classes.
        labels: [examples] numbers of classes.
    """
    classes = np.arange(classes_of(predictions, labels))
    gold = _columns(labels == classes[:, None])
    size = max(1, _COLUMNS // (2 * len(classes)))
    blocks = []
    for start in range(0, len(predictions), size):
        block = predictions[start : start + size, None]
        predicted = block == classes[:, None]  # [sets, classes, examples]
        blocks.append([_columns(flags) for flags in (predicted & (block == labels), predicted)])

    def weigh(weights: Weights) -> Floats:
        gold_sums = _sums(weights, gold)[:, None]
        scores = []
        for block in blocks:
            shape = (len(weights), -1, len(classes))
            hits, predicted = (_sums(weights, flags).reshape(shape) for flags in block)
            scores.append(score(Counts(hits, predicted, np.broadcast_to(gold_sums, hits.shape))))
        return np.concatenate(scores, axis=1)

    return weigh


def _columns(flags: Flags) -> Singles:
    """[examples, all others]; in single precision, where sums of counts below 2^24 are exact."""
    rows = flags.reshape(-1, flags.shape[-1])
    return np.ascontiguousarray(rows.T, dtype=np.float32)


def _sums(weights: Weights, flags: Singles) -> Floats:
    return (weights.astype(np.float32) @ flags).astype(np.float64)


def pearson(predictions: Values, labels: Values) -> Weighted:
    """Pearson's correlation; 0 where the predictions or the labels drawn are constant.

    Args:
        predictions: [sets, examples] real numbers.
        labels: [examples] real numbers.
    """
    scaled, y = standardized(drop_rounding(predictions)), standardized(labels)
    columns = [scaled.T, (scaled**2).T, (scaled * y).T]
    x, xx, xy = (np.ascontiguousarray(column) for column in columns)

    def score(weights: Weights) -> Floats:
        total = weights.sum(axis=1, keepdims=True)
        w = weights / total
        mean, mean_y = w @ x, (w @ y)[:, None]
        spread = w @ xx - mean**2
        spread_y = (w @ y**2)[:, None] - mean_y**2
        return correlation(w @ xy - mean * mean_y, spread, spread_y)

    return score


def spearman(predictions: Values, labels: Values) -> Weighted:
    """Spearman's correlation; 0 where the predictions or the labels drawn are constant.

    A correlation of ranks needs sums over examples in any order, so those of a set stay sorted.

    Args:
        predictions: [sets, examples] real numbers.
        labels: [examples] real numbers.
    """
    gold = labels.astype(np.float64)
    sorted_labels = _Sorted.of(gold)
    _, group = np.unique(gold, return_inverse=True)
    sorted_sets = [_Sorted.of(row) for row in drop_rounding(predictions)]

    def score(weights: Weights) -> Floats:
        scores = np.empty((len(weights), len(sorted_sets)))
        for start in range(0, len(weights), _RESAMPLES):
            block = slice(start, start + _RESAMPLES)
            drawn = np.ascontiguousarray(weights[block].T, dtype=np.float64)
            total = drawn.sum(axis=0)
            middle = (total + 1) / 2
            y = _mean_ranks(sorted_labels.sums(drawn))[group] - middle
            products = drawn * y
            spread_y = np.einsum(_OVER_EXAMPLES, products, y) / total
            for number, own in enumerate(sorted_sets):
                counts = own.sums(drawn)
                x = _mean_ranks(counts) - middle
                covariance = np.einsum(_OVER_EXAMPLES, x, own.sums(products)) / total
                spread = np.einsum(_OVER_EXAMPLES, x, counts * x) / total
                scores[block, number] = correlation(covariance, spread, spread_y)
        return scores

    return score


@dataclass(frozen=True)
class _Sorted:
    """The order of some values, and the groups of equal ones.

    Attributes:
        order: [examples] places of the values, from the smallest.
        starts: [groups] where in that order each group begins; None if all values differ, as sums
            over groups of one would take as long again.
    """

    order: Integers
    starts: Integers | None

    @classmethod
    def of(cls, values: Floats) -> _Sorted:
        order = np.argsort(values, kind="stable")
        is_new = np.r_[True, np.diff(values[order]) > 0]
        starts = None if is_new.all() else np.flatnonzero(is_new)
        return cls(order, starts)

    def sums(self, values: Floats) -> Floats:
        """[groups, resamples] sums over the groups of [examples, resamples] values."""
        ordered: Floats = values[self.order]
        if self.starts is None:
            return ordered
        return np.add.reduceat(ordered, self.starts, axis=0)


def _mean_ranks(counts: Floats) -> Floats:
    """[groups, resamples] mean rank, from 1, of each group of equal values, from their numbers."""
    ends: Floats = np.cumsum(counts, axis=0)
    return ends - (counts - 1) / 2


def r2(predictions: Values, labels: Values) -> Weighted:
    """Coefficient of determination; 0 where the labels drawn are constant.

    Args:
        predictions: [sets, examples] real numbers.
        labels: [examples] real numbers.
    """
    y = np.asarray(labels, dtype=np.float64)
    y = y - y.mean()
    errors = np.ascontiguousarray(((predictions - labels.astype(np.float64)) ** 2).T)

    def score(weights: Weights) -> Floats:
        w = weights / weights.sum(axis=1, keepdims=True)
        spread = (w @ y**2)[:, None] - (w @ y)[:, None] ** 2
        several = np.array([not is_constant(labels[row > 0]) for row in weights])[:, None]
        unexplained = ratio(w @ errors, np.where(several, spread, 0.0))
        return np.where(several, 1.0 - unexplained, 0.0)

    return score
