"""All tables of one sweep."""

from __future__ import annotations

import pandas as pd

from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.paper.ablation.best import best, survival
from darksecrets.paper.ablation.statistics import PLACES, Resampling, effects, kind_rows
from darksecrets.paper.ablation.tables import SURVIVAL


def scored(result: SweepResult, task: Task, resampling: Resampling) -> dict[str, pd.DataFrame]:
    """Effects of heads, layers and custom sets, the best ones' gains, and summaries.

    Args:
        result: A sweep.
        task: The task it was made for.
        resampling: Numbers of samples, seed.

    Returns:
        The tables of `tables.EFFECTS` by name, without the columns of the model.
    """
    table, means = effects(result, task, resampling)
    gains = best(result, task, resampling)
    tables = {f"{kind}_ablation": kind_rows(table, kind) for kind in PLACES}
    tables[SURVIVAL.name] = survival(table, means, gains, len(result.idx))
    return tables
