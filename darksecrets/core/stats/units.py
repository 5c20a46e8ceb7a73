"""Units of inference: examples that are equal count once.

Copies of an example repeat its outcome. Counted one by one they make any difference significant, so
tests exchange, bootstraps draw and halves divide all copies together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from darksecrets.core.arrays import Integers


def numbered(keys: Iterable[Hashable]) -> Integers:
    """[keys] number of each key's unit, from 0 as they first appear; equal keys share it."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def numbered_texts(columns: Iterable[Sequence[str]]) -> Integers:
    """[examples] units of examples, by their texts.

    Args:
        columns: One for the first sentences of all examples, and one for the second, if any. Case
            and spaces make no difference.
    """
    plain = ([" ".join(text.casefold().split()) for text in column] for column in columns)
    return numbered(zip(*plain, strict=True))


def count_units(units: Integers) -> int:
    """How many units examples have; numbers of units leave none out."""
    return int(units.max()) + 1


def first_of_each(units: Integers) -> Integers:
    """[units] place of the first example of each unit, ascending."""
    return np.sort(np.unique(units, return_index=True)[1])
