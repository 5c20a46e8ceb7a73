"""Measure the heads of one model, and keep what comparisons of models need of every example."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from darksecrets.attention.store import Maps
from darksecrets.features import head_types, profiles, strongest
from darksecrets.features.measures import measure
from darksecrets.features.tokens import describe


def measure_into(folder: Path, maps: Maps, annotation: Path, seed: int) -> dict[str, pd.DataFrame]:
    """Measure every head of a model in one pass over its maps.

    Args:
        folder: Where the files of `profiles`, `strongest` and `head_types` are written.
        maps: Maps of the model.
        annotation: The words of the examples, see `darksecrets.features.annotation`.
        seed: Seed of the controls.

    Returns:
        The table of every measure, see `measures.measure`.
    """
    collector = profiles.Collector()
    columns: list[strongest.StrongestColumns] = []
    statistics: list[head_types.MapStatistics] = []
    tokens = describe(maps, annotation)
    tables = measure(
        maps, tokens, seed, collector=collector, strongest=columns, statistics=statistics
    )
    collector.profiles().save(folder / profiles.FILE)
    strongest.StrongestColumns.joined(columns).save(folder / strongest.FILE)
    head_types.MapStatistics.joined(statistics).save(folder / head_types.FILE)
    return tables
