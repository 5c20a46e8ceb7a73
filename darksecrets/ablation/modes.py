"""Effects of disabling heads in another way, such as `zero` beside `uniform` (section 4.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.ablation.results import PARTS, SweepResult
from darksecrets.ablation.scores import plain, require_usable
from darksecrets.ablation.statistics import Resampling, bootstrap, p_values
from darksecrets.ablation.tables import MODE_COMPARISON
from darksecrets.arrays import Floats
from darksecrets.data.metrics import PERCENT
from darksecrets.data.tasks import Task
from darksecrets.run.columns import MODEL
from darksecrets.run.errors import InputError
from darksecrets.stats import LEVEL
from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.ranks import Draws, agreement
from darksecrets.stats.resampling import interval


def compare_modes(
    reference: SweepResult, others: dict[str, SweepResult], task: Task, resampling: Resampling
) -> pd.DataFrame:
    """Compare sweeps of one model in which heads are disabled differently.

    Args:
        reference: The sweep in the mode of all other tables.
        others: Sweeps of the same model, examples and sets, by mode.
        task: Their task.
        resampling: Numbers of samples, seed.

    Returns:
        The rows of `MODE_COMPARISON`, without the columns that identify the model: a row per
        metric, kind and mode; none if there is no other mode.

    Raises:
        InputError: A sweep is of another model or of other examples or sets, or see
            `darksecrets.ablation.scores.require_usable`.
    """
    rows: list[dict[str, Any]] = []
    for mode, other in others.items():
        require_usable(other, task)
        if not reference.is_like(other):
            raise InputError(
                f"{task.name}: found other examples or sets in the sweep with mode '{mode}' than "
                "in the first one, expected the same. Run the sweep again."
            )
        for metric in task.metrics:
            rows += _of_metric(reference, other, task, metric, mode, resampling)
    known = {column.name for column in MODEL}
    return pd.DataFrame(rows, columns=[n for n in MODE_COMPARISON.names if n not in known])


def _of_metric(
    reference: SweepResult,
    other: SweepResult,
    task: Task,
    metric: str,
    mode: str,
    resampling: Resampling,
) -> list[dict[str, Any]]:
    both = (reference, other)
    deltas = np.stack([(s := plain(result, task)[metric]) - s[0] for result in both])
    drawn = [
        bootstrap(result, metric, resampling.bootstrap, np.random.default_rng(resampling.seed))
        for result in both
    ]
    of_modes = np.stack(
        [
            p_values(r, metric, resampling.permutations, np.random.default_rng(resampling.seed))
            for r in both
        ]
    )
    between = _between(reference, other, metric, resampling)
    rows = []
    for kind in PARTS:
        sets = np.flatnonzero(reference.sets["kind"] == kind)
        layers = reference.sets["layer"].iloc[sets].to_numpy(dtype=np.int64)
        draws = Draws(layers, resampling.bootstrap, resampling.permutations, resampling.seed)
        p = between[sets], of_modes[:, sets]
        difference = drawn[1][:, sets].mean(axis=1) - drawn[0][:, sets].mean(axis=1)
        found = agreement(deltas[:1, sets], deltas[1:, sets], draws)
        low, high = PERCENT * interval(difference)
        rows.append(
            {"metric": metric, "kind": kind, "mode": mode, "sets": len(sets)}
            | {"spearman": found.rho, "spearman_low": found.low, "spearman_high": found.high}
            | _effects(deltas[:, sets])
            | {"ci_low": low, "ci_high": high, **_counts(deltas[:, sets], *p)}
        )
    return rows


def _between(
    reference: SweepResult, other: SweepResult, metric: str, resampling: Resampling
) -> Floats:
    """[sets] p-values of each set's predictions in one mode against those in the other."""
    p = np.ones(len(reference.sets))
    for number in range(1, len(p)):
        predictions = np.stack([r.predictions[number] for r in (reference, other)])
        pair = replace(reference, sets=reference.sets.iloc[[0, number]], predictions=predictions)
        rng = np.random.default_rng(resampling.seed)
        if (predictions[0] != predictions[1]).any():
            p[number] = p_values(pair, metric, resampling.permutations, rng)[1]
    return p


def _effects(deltas: Floats) -> dict[str, float]:
    """Means over the sets, from deltas [2 modes, sets]."""
    reference, mean = PERCENT * deltas.mean(axis=1)
    return {
        "mean_effect": mean,
        "reference_effect": reference,
        "difference": mean - reference,
        "absolute_difference": PERCENT * np.abs(deltas[1] - deltas[0]).mean(),
    }


def _counts(deltas: Floats, between: Floats, of_modes: Floats) -> dict[str, int]:
    """How many sets differ, from deltas and p-values [2 modes, sets], and p-values [sets]."""
    opposite = deltas[0] * deltas[1] < 0
    significant = np.stack([benjamini_hochberg(p) < LEVEL for p in of_modes]).all(axis=0)
    return {
        "differ_q": int((benjamini_hochberg(between) < LEVEL).sum()),
        "opposite": int(opposite.sum()),
        "opposite_q": int((opposite & significant).sum()),
    }
