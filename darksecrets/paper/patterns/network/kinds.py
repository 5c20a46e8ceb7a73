"""The kinds of maps that tell the two definitions of the classes apart (section 4.1).

Every map has a class under the lenient definition and one under the strict definition, see
`classes`. The classifier tells kinds of maps apart: a kind is a pair of both. The probabilities
under either definition are sums over kinds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from darksecrets.paper.patterns.classes import DEFINITIONS, PATTERNS, Definition

MAP_KINDS = (
    ("vertical", "vertical"),
    ("vertical", "heterogeneous"),
    ("diagonal", "diagonal"),
    ("vertical+diagonal", "vertical+diagonal"),
    ("vertical+diagonal", "diagonal"),
    ("vertical+diagonal", "heterogeneous"),
    ("block", "block"),
    ("heterogeneous", "heterogeneous"),
)
"""Lenient and strict class of every kind of map."""

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def members(definition: Definition) -> Floats:
    """[kinds, classes] 1 where a kind has a class under a definition, else 0."""
    place = DEFINITIONS.index(definition)
    return np.array([[float(kind[place] == name) for name in PATTERNS] for kind in MAP_KINDS])


def possible(labels: Sequence[str], strict: Sequence[str]) -> Flags:
    """Which kinds a labelled map may be.

    Args:
        labels: [maps] classes under the lenient definition.
        strict: [maps] classes under the strict definition; empty where it is unknown. Then all
            kinds of the lenient class are possible.

    Returns:
        [maps, kinds].
    """
    pairs = zip(labels, strict, strict=True)
    rows = [[wide == a and b in (narrow, "") for wide, narrow in MAP_KINDS] for a, b in pairs]
    return np.array(rows, dtype=np.bool_).reshape(len(rows), len(MAP_KINDS))
