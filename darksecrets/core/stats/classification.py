"""Scores of classifications, computed from counts of each class; all vectorised.

Names and conventions are those of scikit-learn: a mean over classes leaves out classes that are
neither predicted nor present (`balanced_accuracy`: not present), and a ratio whose divisor is 0
counts as 0. Classes are numbered from 0; `f1`, `precision` and `recall` are those of class 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from darksecrets.core.arrays import Flags, Floats, Values
from darksecrets.core.stats.correlation import ratio


class Counts(NamedTuple):
    """Numbers of examples by class, all [..., classes].

    Attributes:
        hits: Examples of the class that are predicted correctly.
        predicted: Examples predicted as the class.
        gold: Examples of the class.
    """

    hits: Floats
    predicted: Floats
    gold: Floats


Score = Callable[[Counts], Floats]
"""Maps counts [..., classes] to scores [...]."""


def count(predictions: Values, labels: Values, classes: int) -> Counts:
    """Count the classes of one set of predictions.

    Args:
        predictions: [examples] numbers of classes.
        labels: [examples] likewise.
        classes: How many classes there are.
    """
    predicted, gold = predictions.astype(np.int64), labels.astype(np.int64)
    kinds = (gold[predicted == gold], predicted, gold)
    return Counts(*(np.bincount(kind, minlength=classes).astype(np.float64) for kind in kinds))


def classes_of(*numbers: Values) -> int:
    """How many classes predictions and labels have, at least two."""
    return max(2, *(int(values.max(initial=0)) + 1 for values in numbers))


def accuracy(counts: Counts) -> Floats:
    """Share of the examples whose class is predicted correctly."""
    return ratio(counts.hits.sum(-1), counts.gold.sum(-1))


def balanced_accuracy(counts: Counts) -> Floats:
    """Mean recall of the classes that are present."""
    return _mean(_recalls(counts), counts.gold > 0)


def precision(counts: Counts) -> Floats:
    """Precision of class 1."""
    return _precisions(counts)[..., 1]


def recall(counts: Counts) -> Floats:
    """Recall of class 1."""
    return _recalls(counts)[..., 1]


def f1(counts: Counts) -> Floats:
    """Harmonic mean of precision and recall of class 1."""
    return _f1s(counts)[..., 1]


def precision_macro(counts: Counts) -> Floats:
    """Mean precision of the classes."""
    return _mean(_precisions(counts), _known(counts))


def recall_macro(counts: Counts) -> Floats:
    """Mean recall of the classes."""
    return _mean(_recalls(counts), _known(counts))


def f1_macro(counts: Counts) -> Floats:
    """Mean F1 of the classes."""
    return _mean(_f1s(counts), _known(counts))


def precision_weighted(counts: Counts) -> Floats:
    """Mean precision of the classes, weighted by their sizes."""
    return ratio((counts.gold * _precisions(counts)).sum(-1), counts.gold.sum(-1))


def recall_weighted(counts: Counts) -> Floats:
    """Mean recall of the classes, weighted by their sizes; this is the accuracy."""
    return accuracy(counts)


def f1_weighted(counts: Counts) -> Floats:
    """Mean F1 of the classes, weighted by their sizes."""
    return ratio((counts.gold * _f1s(counts)).sum(-1), counts.gold.sum(-1))


def f1_micro(counts: Counts) -> Floats:
    """F1 of all classes together; with one label per example, this is the accuracy."""
    return accuracy(counts)


def matthews_corrcoef(counts: Counts) -> Floats:
    """Matthews' correlation coefficient, for any number of classes (Gorodkin 2004).

    It is 0 where all labels, or all predictions, are of one class.
    """
    hits, total = counts.hits.sum(-1), counts.gold.sum(-1)
    covariance = hits * total - (counts.predicted * counts.gold).sum(-1)
    spreads = [total**2 - (sizes**2).sum(-1) for sizes in (counts.predicted, counts.gold)]
    return ratio(covariance, np.sqrt(spreads[0]) * np.sqrt(spreads[1]))


def _precisions(counts: Counts) -> Floats:
    return ratio(counts.hits, counts.predicted)


def _recalls(counts: Counts) -> Floats:
    return ratio(counts.hits, counts.gold)


def _f1s(counts: Counts) -> Floats:
    return ratio(2 * counts.hits, counts.predicted + counts.gold)


def _known(counts: Counts) -> Flags:
    return counts.predicted + counts.gold > 0


def _mean(values: Floats, kept: Flags) -> Floats:
    """Mean over the last axis of the values that are kept."""
    return ratio(np.where(kept, values, 0.0).sum(-1), kept.sum(-1))
