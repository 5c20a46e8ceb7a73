"""Which outputs computed in bfloat16 need float32 to be sure of the prediction.

The error of an output is how far differences of its logits may be off. It is measured on pairs of a
set and an example that are computed both ways: a seeded sample over all of them, and every pair
that is recomputed. The bound is the largest error seen times a safety factor, for each layer that
sets begin at, because a set that begins higher has fewer layers in bfloat16 above it. A prediction
whose margin is larger than the bound is that of float32; the others are recomputed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SAFETY = 2.0
SEED = 2019
# Of every layer's pairs, this share is sampled, and no fewer than this number (all if there are
# fewer).
SHARE, SAMPLED = 0.01, 50
# So many errors must have been seen before a bound counts.
ENOUGH = 20
# Outputs in float32 depend in their last digits on how examples are batched. Margins below this,
# relative to logits above 1, are ties; or below the safety factor times what was seen on so many.
TIE, TRIALS = 1e-5, 64

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]


def margins(logits: Array) -> Array:
    """Largest logit minus the second largest, over the last axis."""
    top = np.partition(logits, -2, axis=-1)
    difference: Array = top[..., -1] - top[..., -2]
    return difference


def rounding(logits: Array, others: Array) -> float:
    """Largest relative difference of margins between two computations of [pairs, outputs]."""
    return float(np.max(np.ptp(logits.astype(np.float64) - others, axis=-1) / _scale(others)))


def ties(logits: Array, below: float = TIE) -> Mask:
    """Whether rounding in float32 could change the prediction."""
    tied: Mask = ~(margins(logits) >= below * _scale(logits))  # so that NaN is one
    return tied


def _scale(logits: Array) -> Array:
    scale: Array = np.maximum(1.0, np.abs(logits).max(axis=-1))
    return scale


class Bounds:
    """Error bounds by the layer that sets begin at.

    Args:
        first: [sets], the layers, from 0.
        layers: Number of layers.
        examples: Number of examples.
    """

    def __init__(self, first: npt.NDArray[np.int64], layers: int, examples: int) -> None:
        self._first = first
        self._largest, self._seen = np.zeros(layers), np.zeros(layers, dtype=np.int64)
        pairs = examples * np.bincount(first, minlength=layers)
        self._enough = np.minimum(ENOUGH, pairs)
        #: [sets, examples], the pairs that are computed both ways.
        self.sample: Mask = np.zeros((len(first), examples), dtype=bool)
        rng = np.random.default_rng(SEED)
        for layer, count in enumerate(np.maximum(SAMPLED, np.ceil(SHARE * pairs)).astype(int)):
            sets = np.flatnonzero(first == layer)
            drawn = rng.choice(pairs[layer], min(count, pairs[layer]), replace=False)
            self.sample[sets[drawn // examples], drawn % examples] = True

    def see(self, screened: Array, exact: Array) -> None:
        """Take errors into account.

        Args:
            screened: [sets, examples, outputs].
            exact: Likewise, NaN where it was not computed.
        """
        difference = screened.astype(np.float64) - exact
        errors = np.ptp(difference, axis=-1)
        for layer in range(len(self._largest)):
            seen = errors[self._first == layer]
            seen = seen[~np.isnan(seen)]
            self._seen[layer] += len(seen)
            self._largest[layer] = max(self._largest[layer], *seen, 0.0)

    @property
    def errors(self) -> list[float]:
        """The largest error seen, by layer."""
        return [float(error) for error in self._largest]

    @property
    def limits(self) -> npt.NDArray[np.float64]:
        """The bounds by layer; infinite where too few errors have been seen.

        A set that begins lower has at least the bound of one that begins higher.
        """
        limits = np.where(self._seen >= self._enough, SAFETY * self._largest, np.inf)
        accumulated: npt.NDArray[np.float64] = np.maximum.accumulate(limits[::-1])[::-1]
        return accumulated

    def unsure(self, screened: Array) -> Mask:
        """Pairs whose prediction float32 may change, of [sets, examples, outputs]."""
        sure = margins(screened) >= self.limits[self._first][:, None]  # False for NaN, too
        unsure: Mask = ~sure | ties(screened)
        return unsure
