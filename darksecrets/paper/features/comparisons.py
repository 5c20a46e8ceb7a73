"""All comparisons of models, example by example (sections 4.4 and 4.5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from darksecrets.paper.features import tables
from darksecrets.paper.features.changes import changes
from darksecrets.paper.features.levels import levels
from darksecrets.paper.features.profiles import Models, Profiles
from darksecrets.paper.features.trends import origins, trends


def load(files: Iterable[tuple[str, str, Path]]) -> Models:
    """Read the profiles of all models of a run.

    Args:
        files: Task, model such as ``finetuned/seed-1``, and file of each.

    Raises:
        InputError: A file is missing or damaged.
    """
    models: dict[str, dict[str, list[Profiles]]] = {}
    for task, model, path in files:
        states = models.setdefault(task, defaultdict(list))
        states[model.partition("/")[0]].append(Profiles.load(path))
    return models


def comparisons(models: Models, draws: int, resamples: int, seed: int) -> dict[str, pd.DataFrame]:
    """Levels, changes through fine-tuning, trends over layers and origins, by name of the table.

    Args:
        models: All models of the run.
        draws: Random draws of the tests.
        resamples: Bootstrap samples of the intervals.
        seed: Seed of both.
    """
    return {
        tables.ATTENTION_LEVELS.name: levels(models, resamples, seed),
        tables.ATTENTION_CHANGES.name: changes(models, draws, resamples, seed),
        tables.ATTENTION_TRENDS.name: trends(models, draws, resamples, seed),
        tables.ATTENTION_ORIGINS.name: origins(models, resamples, seed),
    }
