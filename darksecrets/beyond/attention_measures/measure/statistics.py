"""Comparisons of models by several measures of attention, from the parts of a run's tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from darksecrets.beyond.attention_measures.declared import profiles_in
from darksecrets.core.run.columns import MEASURE
from darksecrets.paper.features.comparisons import comparisons, load
from darksecrets.paper.features.diagonal import diagonal_correlations
from darksecrets.paper.features.tables import TOKEN_PAIR_CORRELATIONS


def compared(
    measures: Sequence[str],
    pairs: pd.DataFrame,
    folders: Mapping[str, Path],
    models: Sequence[tuple[str, str]],
    *,
    draws: int,
    resamples: int,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Compare models by each measure, as by attention weights; each measure is tested by itself.

    Args:
        measures: The measures of attention.
        pairs: The table ``token_pairs`` of all tasks, with the column ``measure``.
        folders: For each task, where its profiles are, see
            `beyond.attention_measures.declared.profiles_in`.
        models: Task and model of all of them.
        draws: Random draws of the tests.
        resamples: Bootstrap samples of the intervals of `features.comparisons`.
        seed: Seed of both.

    Returns:
        By the name of the table of attention weights, the same with the column ``measure``.
    """
    found: dict[str, list[pd.DataFrame]] = {}
    for measure in measures:
        files = [
            (task, model, profiles_in(folders[task], measure, model)) for task, model in models
        ]
        tables = comparisons(load(files), draws, resamples, seed)
        own = pairs[pairs[MEASURE.name] == measure].drop(columns=MEASURE.name)
        tables[TOKEN_PAIR_CORRELATIONS.name] = diagonal_correlations(own, draws, seed)
        for name, table in tables.items():
            table.insert(0, MEASURE.name, measure)
            found.setdefault(name, []).append(table)
    return {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}


def split_measures(
    tables: Mapping[str, pd.DataFrame], measures: Sequence[str]
) -> dict[str, dict[str, pd.DataFrame]]:
    """For each measure, the tables without the column ``measure``.

    Args:
        tables: Tables with that column, by name.
        measures: The measures.
    """
    return {
        measure: {
            name: table[table[MEASURE.name] == measure]
            .drop(columns=MEASURE.name)
            .reset_index(drop=True)
            for name, table in tables.items()
        }
        for measure in measures
    }
