"""All tables of one sweep."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from darksecrets.ablation.best import best, survival
from darksecrets.ablation.modes import compare_modes
from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.statistics import PLACES, Resampling, effects, of_kind
from darksecrets.ablation.tables import BEST_HEAD, MODE_COMPARISON, SURVIVAL
from darksecrets.data.tasks import Task


def scored(
    result: SweepResult, modes: Mapping[str, SweepResult], task: Task, resampling: Resampling
) -> dict[str, pd.DataFrame]:
    """Effects of heads, layers and custom sets, the best ones' gains, and summaries.

    Args:
        result: A sweep.
        modes: The same sweep in other modes.
        task: The task it was made for.
        resampling: Numbers of samples, seed.

    Returns:
        The tables of `tables.EFFECTS` by name, without the columns of the model.
    """
    table, means = effects(result, task, resampling)
    gains = best(result, task, resampling)
    return {
        **{f"{kind}_ablation": of_kind(table, kind) for kind in PLACES},
        BEST_HEAD.name: gains,
        SURVIVAL.name: survival(table, means, gains, len(result.idx)),
        MODE_COMPARISON.name: compare_modes(result, dict(modes), task, resampling),
    }
