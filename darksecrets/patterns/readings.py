"""Two readings of the classes, and the kinds of maps that tell them apart (section 4.1).

In the paper, a vertical pattern is attention to special tokens. Maps with columns on other tokens
look the same but for the tokens. So every map has two classes:

- wide: columns count whichever tokens they are;
- strict: only columns on special tokens count. Without them, a vertical map is heterogeneous, and a
  map with a diagonal is diagonal if the diagonal is strong, else heterogeneous.

The classifier tells kinds of maps apart. A kind is a pair of the wide and the strict class, so the
probabilities of either reading are sums over kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from darksecrets.patterns.classes import PATTERNS

READINGS = WIDE, STRICT = ("wide", "strict")

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
"""Wide and strict class of every kind of map."""

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def members(reading: str) -> Floats:
    """[kinds, classes] 1 where a kind has a class under a reading, else 0."""
    place = READINGS.index(reading)
    return np.array([[float(kind[place] == name) for name in PATTERNS] for kind in MAP_KINDS])


def possible(labels: Sequence[str], strict: Iterable[str]) -> Flags:
    """Which kinds a labelled map may be.

    Args:
        labels: [maps] classes under the wide reading.
        strict: [maps] classes under the strict reading; empty where nobody said which tokens the
            columns are. Then all kinds of the wide class are possible.

    Returns:
        [maps, kinds].
    """
    rows = [
        [wide == label and narrow in (other, "") for wide, other in MAP_KINDS]
        for label, narrow in zip(labels, (given for given in strict), strict=True)
        for narrow in [narrow if isinstance(narrow, str) else ""]
    ]
    return np.array(rows, dtype=np.bool_).reshape(len(rows), len(MAP_KINDS))
