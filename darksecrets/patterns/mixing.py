"""Opaque identities of maps, and sets mixed into one for a blind labelling."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.arrays import Halves
from darksecrets.patterns.mapset import COLUMNS, MapSet, no_labels
from darksecrets.patterns.tables import EARLIER_LABELS
from darksecrets.run.errors import InputError

_LETTERS = 6  # of base 32: among 1,000 maps, two have the same with a probability of 0.0005
_ORIGIN = ("model", "task", "state", "seed", "idx", "layer", "head")


def identities(rows: Sequence[Mapping[str, Any]], maps: Sequence[Halves], seed: int) -> list[str]:
    """Short names such as ``m7f3akx``, which say nothing of a map's model, task or place.

    They are digests of a map, its origin and the seed, so that the maps of two samples have
    different names, and the same call gives the same names.

    Args:
        rows: The maps' origins, with the columns `COLUMNS` except for ``map``.
        maps: Their weights.
        seed: Another seed gives other names.

    Raises:
        InputError: Two maps have the same name, most likely because one is there twice.
    """
    names: dict[str, int] = {}
    for place, (row, weights) in enumerate(zip(rows, maps, strict=True)):
        origin = "\n".join(["" if pd.isna(row[name]) else str(row[name]) for name in _ORIGIN])
        digest = hashlib.sha256(f"{seed}\n{origin}\n".encode() + weights.tobytes()).digest()
        name = "m" + base64.b32encode(digest).decode()[:_LETTERS].lower()
        if name in names:
            raise InputError(
                f"Maps {names[name] + 1} and {place + 1} would both be called {name}: expected "
                "every map once. Use another seed if they differ."
            )
        names[name] = place
    return list(names)


def mix(sets: Sequence[MapSet], seed: int) -> MapSet:
    """Mix sets of maps into one, in random order and under new names, without labels.

    Labels that the sets have become earlier labels, and a map that has some keeps the name that it
    first had in the column ``earlier``.

    Raises:
        InputError: A map is in two sets.
    """
    tables = [one.table.assign(set=number) for number, one in enumerate(sets)]
    table = pd.concat(tables, ignore_index=True)
    maps = [values for one in sets for values in one.maps]
    names = identities(table.to_dict("records"), maps, seed)  # type: ignore[arg-type]  # str keys
    given = list(EARLIER_LABELS.names)  # without second answers, those given first at the top
    every = [pd.concat([one.earlier, one.labels[given]]) for one in sets]
    labels = pd.concat([one.assign(set=number) for number, one in enumerate(every)])
    known = pd.MultiIndex.from_frame(table[["set", "map"]])
    places = known.get_indexer(pd.MultiIndex.from_frame(labels[["set", "map"]]))
    labels["map"] = [names[place] for place in places]
    first_name = table["earlier"].where(table["earlier"] != "", table["map"])
    table["earlier"] = first_name.where(table.index.isin(places), "")
    table["map"] = names
    order = np.random.default_rng(seed).permutation(len(table))
    return MapSet(
        table.iloc[order].reset_index(drop=True)[list(COLUMNS)],
        [maps[place] for place in order],
        no_labels(),
        labels[given].reset_index(drop=True),
    )
