"""Predictions that depend on rounding in float32, and how they are decided.

The last digits of outputs in float32 depend on how examples are batched. Where that could change a
prediction, it is computed again for the example alone, without padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from darksecrets.core.arrays import Integers, Reals

if TYPE_CHECKING:
    from darksecrets.core.interventions.backends import Logits, Mask

    Array = Reals

SEED = 2019
#: Margins below this (relative, for logits above 1) are ties. So are margins below the safety
#: factor times the largest difference seen in this many trials.
TIE, TRIALS = 1e-5, 64
SAFETY = 2.0


class Runs(Protocol):
    """What computes the outputs of single examples, such as a backend of the sweep."""

    def run(self, number: int, rows: Sequence[int]) -> Logits:
        """Run the model on a batch of examples under one intervention, [rows, outputs]."""


def margins(logits: Array) -> Array:
    """Largest logit minus the second largest, over the last axis."""
    top = np.partition(logits, -2, axis=-1)
    return top[..., -1] - top[..., -2]


def rounding(logits: Array, others: Array) -> float:
    """Largest relative difference of margins between two computations of [pairs, outputs]."""
    return float(np.max(np.ptp(logits.astype(np.float64) - others, axis=-1) / _scale(others)))


def ties(logits: Array, below: float = TIE) -> Mask:
    """Whether rounding in float32 could change the prediction."""
    return ~(margins(logits) >= below * _scale(logits))  # so that NaN is a tie


def decide_ties(backend: Runs, logits: Logits) -> dict[str, Any]:
    """Where rounding could change a prediction, use the logits of the example alone.

    The effect of rounding is measured on a seeded sample of the pairs.

    Args:
        backend: The backend that computed the logits.
        logits: [interventions, examples, outputs] in float32; changed in place.

    Returns:
        ``rounding``, the largest effect seen; ``tie_below``, the margin below which there is a tie;
        ``ties``, the number of ties.
    """

    def alone(pairs: Integers) -> Logits:
        return np.stack([backend.run(number, [row])[0] for number, row in pairs.tolist()])

    pairs = np.argwhere(np.ones(logits.shape[:2], dtype=bool))
    trials = np.random.default_rng(SEED).permutation(pairs)[:TRIALS]
    seen = rounding(logits[tuple(trials.T)], alone(trials))
    below = max(TIE, SAFETY * seen)
    tied = np.argwhere(ties(logits, below))
    if len(tied):
        logits[tuple(tied.T)] = alone(tied)
    return {"rounding": seen, "tie_below": below, "ties": len(tied)}


def _scale(logits: Array) -> Array:
    return np.maximum(1.0, np.abs(logits).max(axis=-1))
