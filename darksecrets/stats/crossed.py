"""Means over crossed units (every model saw the same examples, every example all heads).

An interval over examples alone is about the models at hand; seeds are drawn along with the examples
if there are several. What is said of a model's heads in common is also resampled over heads.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from darksecrets.stats import LEVEL
from darksecrets.stats.resampling import bootstrap_weights, interval

Floats = npt.NDArray[np.float64]


def drawn_means(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Bootstrap means over examples and models, both drawn with replacement.

    With one model, only examples are drawn. With few models, their spread is underestimated.

    Args:
        values: [models, examples, ...]; NaN where an example has no value, in all models alike.
        resamples: Number of bootstrap samples.
        rng: Source of randomness.

    Returns:
        [resamples, ...]; NaN where a sample has no value.
    """
    models, examples, *shape = values.shape
    columns = np.moveaxis(values, 0, 1).reshape(examples, -1)
    known = ~np.isnan(columns)
    sums = np.where(known, columns, 0)
    parts = []
    for weights in bootstrap_weights(resamples, examples, rng):
        counts = weights.astype(np.float64)
        with np.errstate(invalid="ignore"):
            parts.append((counts @ sums) / (counts @ known))
    means = np.concatenate(parts).reshape(resamples, models, *shape)
    of_models = drawn_weights(resamples, models, rng)
    result: Floats = np.einsum("rm,rm...->r...", of_models, means)
    return result


def drawn_weights(resamples: int, units: int, rng: np.random.Generator) -> Floats:
    """[resamples, units] bootstrap weights that sum to 1."""
    drawn = np.concatenate(list(bootstrap_weights(resamples, units, rng)))
    return drawn / units


def probability_greatest(drawn: Floats, tolerance: float) -> Floats:
    """How often each candidate has the greatest value by all criteria; tied ones share equally.

    Args:
        drawn: [criteria, resamples, candidates, ...]; NaN for a value that does not exist.
        tolerance: Values this close to the greatest tie with it.

    Returns:
        [candidates, ...] probabilities; their sum is below 1 if criteria disagree.
    """
    known = np.where(np.isnan(drawn), -np.inf, drawn)
    best = (known >= known.max(axis=2, keepdims=True) - tolerance).all(axis=0)
    result: Floats = (best / np.maximum(best.sum(axis=1, keepdims=True), 1)).mean(axis=0)
    return result


def interval_of_known(drawn: Floats) -> Floats:
    """[2, ...] percentile interval over the first axis; NaN are left out, and if all are, NaN."""
    missing = np.isnan(drawn)
    if not missing.any():
        return interval(drawn)
    ends = np.full((2, *drawn.shape[1:]), np.nan)
    some = ~missing.all(axis=0)
    ends[:, some] = np.nanquantile(drawn[:, some], (LEVEL / 2, 1 - LEVEL / 2), axis=0)
    return ends
