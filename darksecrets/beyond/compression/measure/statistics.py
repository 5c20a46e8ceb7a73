"""What compressed models retain of the score, with intervals over examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from darksecrets.beyond.compression.declared import COMPRESSION
from darksecrets.beyond.compression.measure.running import Measured
from darksecrets.core.arrays import Floats, Integers, Values
from darksecrets.core.data import metrics
from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.stats.resampling import interval

if TYPE_CHECKING:
    from darksecrets.core.data.tasks import Task

_DECIMALS = 9
"""Of percent: differences that ought to be 0, or a tolerance, are so exactly."""


def compression(
    found: Sequence[Measured],
    labels: Values,
    units: Integers,
    task: Task,
    *,
    tolerance: float,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Score all compressed models of a task on the same examples.

    Args:
        found: What was measured, the whole model first.
        labels: [examples].
        units: [examples] numbers of their units, see `darksecrets.core.stats.units`.
        task: Their task.
        tolerance: The greatest drop that is tolerated, × 100.
        resamples: Number of bootstrap samples of the examples.
        seed: Their seed.

    Returns:
        `COMPRESSION` without the columns of the model.
    """
    predictions = np.stack([metrics.predict(task, one.logits) for one in found])
    sizes = pd.DataFrame([_size(one, found[0]) for one in found])
    tables = []
    for metric in task.metrics:
        scores = _scores(metric, predictions, labels, units, task, resamples, seed)
        columns = _retained(scores, tolerance)
        tables.append(sizes.assign(metric=metric, examples=len(labels), **columns))
    table = pd.concat(tables, ignore_index=True)
    agreed = _agreement(predictions, task)
    table = table.assign(**{name: np.tile(rows, len(tables)) for name, rows in agreed.items()})
    return COMPRESSION.select(table)


def _size(one: Measured, whole: Measured) -> dict[str, Any]:
    """Columns about the size of a model."""
    return {
        **one.variant.about,
        "parameters": one.parameters,
        "nonzero": one.nonzero,
        "bytes": one.saved,
        "packed_bytes": one.packed,
        "smaller": whole.saved / one.saved,
    }


def _scores(
    metric: str,
    predictions: Values,
    labels: Values,
    units: Integers,
    task: Task,
    resamples: int,
    seed: int,
) -> Floats:
    """[1 + resamples, models + 1] scores × 100; the last column is chance, the first row plain."""
    frequent = 0 if task.is_regression else np.bincount(labels.astype(np.int64)).argmax()
    constant = np.full((1, len(labels)), frequent, dtype=predictions.dtype)
    models = np.concatenate([predictions, constant])
    rng = np.random.default_rng(seed)
    scores = metrics.score_resampled(metric, models, labels, units, resamples, rng)
    if task.is_regression:  # of any constant: what is not explained, and no correlation
        scores[:, -1] = 0.0
    return scores


def _retained(scores: Floats, tolerance: float) -> dict[str, Any]:
    """Columns about the scores of the models, from `_scores`."""
    models, chance = scores[:, :-1], scores[:, -1:]
    whole = models[:, :1]
    deltas = np.round(models - whole, _DECIMALS)
    over = np.round(models - chance, _DECIMALS)
    score_low, score_high = interval(models[1:])
    low, high = interval(deltas[1:])
    share, share_low, share_high = _ratio(models, whole)
    above, above_low, above_high = _ratio(models - chance, whole - chance)
    better = (over[0] > 0) & (interval(over[1:])[0] > 0)
    return {
        "baseline": whole[0, 0],
        "score": models[0],
        "score_low": score_low,
        "score_high": score_high,
        "delta": deltas[0],
        "ci_low": low,
        "ci_high": high,
        "chance": chance[0, 0],
        "retention": share,
        "retention_low": share_low,
        "retention_high": share_high,
        "above_chance": above,
        "above_chance_low": above_low,
        "above_chance_high": above_high,
        "tolerance": tolerance,
        "retained": (low >= -tolerance) & better,
    }


def _ratio(parts: Floats, of: Floats) -> tuple[Floats, Floats, Floats]:
    """Ratios in percent with their intervals; NaN if the whole is not above 0 in every sample."""
    if not (of > 0).all():
        unknown = np.full(parts.shape[1], np.nan)
        return unknown, unknown, unknown
    ratios = PERCENT * parts / of
    low, high = interval(ratios[1:])
    return ratios[0], low, high


def _agreement(predictions: Values, task: Task) -> dict[str, Floats]:
    """[models] shares of the decisions that are those of the whole model; NaN for a regression."""
    if task.is_regression:
        unknown = np.full(len(predictions), np.nan)
        return {"agreement": unknown, "agreement_by_chance": unknown}
    classes = np.arange(task.num_labels)
    shares = (predictions[:, None] == classes[:, None]).mean(axis=2)  # [models, classes]
    alike = (predictions == predictions[0]).mean(axis=1)
    return {"agreement": alike, "agreement_by_chance": (shares * shares[0]).sum(axis=1)}
