"""Shares of the five patterns among all maps of a model, and what they are worth (Figure 2)."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.patterns import quality
from darksecrets.patterns.classes import PATTERNS

Floats = npt.NDArray[np.float64]

_FEASIBLE = -1e-9  # a share may be below 0 by rounding


def correct(shares: Floats, confusion: Floats) -> Floats:
    """Shares of the classes that explain the shares of the classifier's guesses.

    A classifier that takes a tenth of the diagonals for verticals shows too many verticals. Of all
    shares p that are not negative and sum to 1, this gives those with the least |Mᵀp - q|², where q
    are the classifier's shares and M its confusion: M[i, j] is how often it says j where i is true.
    It holds as far as the classifier confuses the maps of a run as it does the annotated ones.

    The optimum is exact: it lies inside of one of the 31 sets of classes that may have a share, and
    on each set it solves a linear system.

    Args:
        shares: [..., classes] the classifier's shares.
        confusion: [..., classes, classes] numbers of maps by label and predicted class; a class
            without labelled maps gets no share.

    Returns:
        [..., classes].
    """
    counts = confusion.sum(axis=-1, keepdims=True)
    rates = np.divide(confusion, counts, out=np.zeros_like(confusion), where=counts > 0)
    labelled = (counts[..., 0] > 0).reshape(-1, confusion.shape[-1]).any(axis=0)
    best = np.zeros(np.broadcast_shapes(shares.shape, counts.shape[:-1]))
    least = np.full(best.shape[:-1], np.inf)
    classes = np.flatnonzero(labelled)
    for size in range(1, len(classes) + 1):
        for some in itertools.combinations(classes, size):
            found = _solve(shares, rates[..., some, :], np.array(some))
            error = ((np.einsum("...i,...ij->...j", found, rates) - shares) ** 2).sum(axis=-1)
            better = (found.min(axis=-1) >= _FEASIBLE) & (error < least)
            best[better], least[better] = found[better], error[better]
    best = best.clip(min=0)
    corrected: Floats = best / best.sum(axis=-1, keepdims=True)
    return corrected


def _solve(shares: Floats, rates: Floats, some: npt.NDArray[np.int64]) -> Floats:
    """The best shares of some classes that sum to 1, perhaps negative (Lagrange's system)."""
    size = len(some)
    products = rates @ np.swapaxes(rates, -1, -2)
    system = np.ones((*products.shape[:-2], size + 1, size + 1))
    system[..., :size, :size] = products
    system[..., size, size] = 0
    right = np.einsum("...ij,...j->...i", rates, shares)
    right = np.concatenate([right, np.ones((*right.shape[:-1], 1))], axis=-1)
    solution = np.einsum("...ij,...j->...i", np.linalg.pinv(system, hermitian=True), right)
    found = np.zeros((*solution.shape[:-1], shares.shape[-1]))
    found[..., some] = solution[..., :size]
    return found


def by_example(maps: pd.DataFrame) -> Floats:
    """[examples, classes] share of each class among an example's maps.

    Args:
        maps: Columns ``idx`` and ``pattern``, a row per map.
    """
    counts = pd.crosstab(maps["idx"], maps["pattern"]).reindex(columns=list(PATTERNS), fill_value=0)
    numbers = counts.to_numpy(dtype=np.float64)
    shares: Floats = numbers / numbers.sum(axis=1, keepdims=True)
    return shares


def table(maps: pd.DataFrame, predictions: pd.DataFrame, resamples: int, seed: int) -> pd.DataFrame:
    """Shares of the patterns in one model's maps on one task, as classified and corrected.

    Intervals are bootstrap percentiles over the run's examples; those of the corrected shares also
    over the annotated examples, because few of them make the confusion uncertain.

    Args:
        maps: Columns ``idx`` and ``pattern``, a row per map.
        predictions: The classifier's cross-validation, see `crossvalidation.cross_validate`.
        resamples: For the intervals.
        seed: Of the resamples.

    Returns:
        A row per class: ``pattern``, ``share``, ``ci_low``, ``ci_high``, ``corrected``,
        ``corrected_low``, ``corrected_high``.
    """
    rng = np.random.default_rng(seed)
    shares = by_example(maps)
    drawn = quality.draws(resamples, len(shares), rng) @ shares / len(shares)
    known = quality.confusion(predictions)
    confusion = quality.confusion(predictions, quality.resampled(predictions, resamples, rng))
    # A class that no resample drew keeps its confusion; else its share would fall to 0.
    confusion = np.where(confusion.sum(axis=-1, keepdims=True) > 0, confusion, known)
    low, high = quality.interval(drawn)
    corrected_low, corrected_high = quality.interval(correct(drawn, confusion))
    return pd.DataFrame(
        {
            "pattern": list(PATTERNS),
            "share": shares.mean(axis=0),
            "ci_low": low,
            "ci_high": high,
            "corrected": correct(shares.mean(axis=0), known),
            "corrected_low": corrected_low,
            "corrected_high": corrected_high,
        }
    )


def by_head(maps: pd.DataFrame) -> pd.DataFrame:
    """Shares of the patterns in the maps of every head, over all examples.

    Args:
        maps: Columns ``layer``, ``head``, ``pattern``, a row per map.

    Returns:
        A row per head and class: ``layer``, ``head``, ``pattern``, ``share``.
    """
    counts = pd.crosstab([maps["layer"], maps["head"]], maps["pattern"])
    counts = counts.reindex(columns=list(PATTERNS), fill_value=0)
    shares = counts.div(counts.sum(axis=1), axis=0).reset_index()
    tidy = shares.melt(["layer", "head"], list(PATTERNS), "pattern", "share")
    return tidy.sort_values(["layer", "head"], kind="stable", ignore_index=True)
