"""Opaque identities of maps, so that whoever labels them does not know where they come from."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from darksecrets.core.arrays import Halves
from darksecrets.core.run.errors import InputError

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
