"""A typical map of every pattern, short enough for readable tokens (Figure 1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Halves
from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic
from darksecrets.core.run.states import FROM_NORMAL, RANDOM
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps.labelled_maps import Annotations
from darksecrets.paper.patterns.tables import TYPICAL_MAPS

READABLE = 20
"""Length of the longest map whose tokens are readable at the size of Figure 1."""


def choose(annotations: Annotations, predictions: pd.DataFrame) -> pd.DataFrame:
    """Choose the map of every class that annotators and classifier are most certain of.

    The class is that of the paper's definition. It is the map with the greatest cross-validated
    probability among the labelled maps that meet five conditions: the encoder was pre-trained, all
    labels agree, the class is the same in both definitions, the classifier predicts it, and the map
    is no longer than `READABLE`. If a class has no such map, the conditions are dropped one after
    the other, beginning with the length.

    Args:
        annotations: The labelled maps.
        predictions: The cross-validation of a classifier under the paper's definition.

    Returns:
        The table `TYPICAL_MAPS`: a row per class that has maps, in the order of the classes.
    """
    probabilities = predictions[[f"probability_{name}" for name in PATTERNS]].to_numpy(np.float64)
    places = predictions["label"].map(list(PATTERNS).index).to_numpy(np.int64)
    sure = probabilities[np.arange(len(places)), places]
    known = pd.DataFrame(
        {
            "map": predictions["map"],
            "probability": sure,
            "right": predictions["label"] == predictions["predicted"],
        }
    )
    table = annotations.table.merge(known, on="map", validate="one_to_one")
    table["trained"] = ~table["state"].isin([RANDOM, FROM_NORMAL])
    table["plain"] = table["strict"] == table["label"]
    table["label"] = table["strict"]
    table["short"] = table["special"].str.len() <= READABLE
    order = ["trained", "agreed", "plain", "right", "short", "probability"]
    best = table.sort_values(order, ascending=False, kind="stable").drop_duplicates("label")
    best = best.set_index("label", drop=False)
    chosen = best.loc[[name for name in PATTERNS if name in best.index]]
    return chosen.reset_index(drop=True)[list(TYPICAL_MAPS.names)]


def save(chosen: pd.DataFrame, annotations: Annotations, path: Path) -> None:
    """Write the arrays of chosen maps, each under its identity."""
    rows = {name: row for row, name in enumerate(annotations.table["map"])}
    with atomic(path) as temporary:
        arrays: dict[str, Any] = {name: annotations.maps[rows[name]] for name in chosen["map"]}
        np.savez_compressed(temporary, **arrays)


def read(table: pd.DataFrame, path: Path) -> list[Halves]:
    """Read the arrays of the maps of a table.

    Raises:
        InputError: One is missing, or the file is damaged.
    """
    arrays = read_arrays(path)
    missing = [name for name in table["map"] if name not in arrays]
    if missing:
        raise InputError(f"{path}: the map {missing[0]} is missing. Choose the maps again.")
    return [arrays[name] for name in table["map"]]
