"""Labels that another annotator would not have given, and intervals that allow for them.

A bootstrap over examples takes every label for the truth. But of the shipped maps, an independent
labelling gave some another class. Labels are taken to be wrong where two passes differ, in maps of
a class and an encoder, but more often: so much more that two labellings would differ as often as
the independent one did. What this means for a classifier depends on its errors. If it has learned
the labels' errors, too, it is worse than it seems (`LabelNoise.draw`: labels are drawn again); if
its errors are its own, it is better (`LabelNoise.undo`: confusions are freed from those of the
labels). An interval reaches over both, and over what follows from the labels as they are.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats, Integers, Values
from darksecrets.paper.patterns.classes import PATTERNS, Definition
from darksecrets.paper.patterns.tables import AGAIN

AGREEMENT = 30 / 40
"""Share of the maps that an independent labelling gave the same class, see the set's README."""
PRIOR = 10
"""Maps that the confusions of all encoders count for, beside an encoder's own."""
_MOST = 0.75  # disagreement of two labellings that is allowed for at most
_CLASSES = list(PATTERNS)


@dataclass(frozen=True)
class LabelNoise:
    """How labels differ from the truth.

    Attributes:
        encoders: Names of the encoders that two passes labelled maps of.
        rates: [encoders + 1, class, class] probability of every true class, given the label, or
            of every label, given the true class; the last is for other encoders.
    """

    encoders: list[str]
    rates: Floats

    @classmethod
    def of(cls, predictions: pd.DataFrame, definition: Definition) -> LabelNoise:
        """Take the confusions of two passes from the table `PATTERN_PREDICTIONS`.

        Every pair of classes counts once more than it was confused, so that none is impossible.
        Without a second pass, all confusions are equally probable.
        """
        rows = predictions[predictions["classifier"] == AGAIN]
        rows = rows[rows["definition"] == definition].drop_duplicates("map")
        encoders = sorted(rows["encoder"].unique())
        counts = np.zeros((len(encoders), len(_CLASSES), len(_CLASSES)))
        for place, name in enumerate(encoders):
            own = rows[rows["encoder"] == name]
            first, second = (own[column].map(_CLASSES.index) for column in ("label", "predicted"))
            np.add.at(counts[place], (first, second), 1)
            np.add.at(counts[place], (second, first), 1)
        together = counts.sum(axis=0) + 1 - np.eye(len(_CLASSES))
        by_class = together / together.sum(axis=1, keepdims=True)
        own_rates = counts + PRIOR * by_class
        own_rates /= own_rates.sum(axis=2, keepdims=True)
        differ = float((rows["label"] != rows["predicted"]).mean()) if len(rows) else 1.0
        pairs = np.concatenate([own_rates, by_class[None]])
        return cls(encoders, _errors(pairs, (1 - AGREEMENT) / max(differ, 1 / (len(rows) + 1))))

    def draw(
        self, labels: Integers, encoders: Values, count: int, rng: np.random.Generator
    ) -> Integers:
        """[count, maps] labels drawn again, each as its place among the classes.

        Args:
            labels: [maps] the labels as they are.
            encoders: [maps] names of their encoders.
            count: How often they are drawn.
            rng: Source of random numbers.
        """
        ends = self._rates_of(encoders).cumsum(axis=2)[np.arange(len(labels)), labels][:, :-1]
        chances = rng.random((count, len(labels)))
        return (chances[..., None] > ends).sum(axis=-1, dtype=np.int64)

    def undo(self, counts: Floats, encoders: Values) -> Floats:
        """Numbers of maps by true class, from those by label, if errors are independent.

        Args:
            counts: [..., encoders, label, class] numbers of maps.
            encoders: [encoders] their names.

        Returns:
            The same shape and, for each encoder, the same sum; no number is below 0.
        """
        from_truth = np.swapaxes(self._rates_of(encoders), -1, -2)
        found = np.linalg.solve(from_truth, counts).clip(min=0)
        before, after = (each.sum(axis=(-2, -1), keepdims=True) for each in (counts, found))
        return found * np.divide(before, after, out=np.ones_like(after), where=after > 0)

    def _rates_of(self, encoders: Values) -> Floats:
        """[encoders, class, class] the rates of each."""
        known = {name: place for place, name in enumerate(self.encoders)}
        return self.rates[[known.get(str(name), len(known)) for name in encoders]]


def _errors(pairs: Floats, times: float) -> Floats:
    """Probabilities of true classes, from how often two labellings differ.

    Args:
        pairs: [..., class, class] probability of the second label, given the first.
        times: How many times as often they differ.
    """
    identity = np.eye(len(_CLASSES))
    others = pairs * (1 - identity)
    differ = others.sum(axis=-1, keepdims=True)
    shares = np.divide(others, differ, out=np.zeros_like(others), where=differ > 0)
    wrong = 1 - np.vectorize(accuracy)(1 - np.minimum(times * differ, _MOST))
    return np.asarray(wrong * shares + (1 - wrong) * identity, dtype=np.float64)


def accuracy(agreement: float) -> float:
    """How often a labelling is right, if two of them agree by this share of the maps.

    Both are right, or both are wrong in the same one of the other classes:
    a² + (1 - a)² / (classes - 1) = agreement. Of its two solutions, this is the greater.
    """
    others = 1 / (len(_CLASSES) - 1)
    return (others + math.sqrt(others**2 - (1 + others) * (others - agreement))) / (1 + others)


def count_cells(cells: Integers, weights: Values, size: int) -> Floats:
    """[resamples, cells] how often maps are in every cell, where each resample has its own cells.

    Args:
        cells: [resamples, maps].
        weights: [resamples, maps] how often each map counts.
        size: Number of cells.
    """
    starts = size * np.arange(len(cells))[:, None]
    flat = np.bincount((starts + cells).ravel(), np.ravel(weights), size * len(cells))
    return flat.reshape(len(cells), size).astype(np.float64)


def widest(*intervals: Floats) -> Floats:
    """[2, …] the lowest of the lower ends, and the highest of the higher ends.

    Args:
        intervals: Each [2, …] lower and higher ends; NaN if unknown.
    """
    lowest = functools.reduce(np.fmin, [ends[0] for ends in intervals])
    highest = functools.reduce(np.fmax, [ends[1] for ends in intervals])
    return np.stack([lowest, highest])
