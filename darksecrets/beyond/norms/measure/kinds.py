"""Which kinds of tokens every token is of: special, punctuation, frequent or rare words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.beyond.norms.declared import KINDS
from darksecrets.core.arrays import Flags
from darksecrets.core.attention.punctuation import punctuation


def kinds_of(table: pd.DataFrame, examples: Mapping[str, Sequence[Any]]) -> list[Flags]:
    """Which kinds every token is of.

    Punctuation is a token of punctuation characters (Unicode's category P). A word piece is
    frequent if it occurs more often in all examples than the piece of the median word token does,
    so frequent tokens are at most half of the word tokens.

    Args:
        table: A row per example, see `core.attention.extraction.encode_longest_first`.
        examples: The same examples: ``idx`` and their sentences.

    Returns:
        For every row, [L, kinds] in the order of `KINDS`.
    """
    rows = table.to_dict("records")
    plain = [
        ~(np.asarray(row["special"], dtype=bool) | flags)
        for row, flags in zip(rows, punctuation(table, examples), strict=True)
    ]
    frequent = _frequent(rows, plain)
    return [_flags(row, words, frequent) for row, words in zip(rows, plain, strict=True)]


def _pieces(row: Mapping[Any, Any]) -> list[str]:
    return [piece.lower() for piece in row["tokens"]]


def _frequent(rows: Sequence[Mapping[Any, Any]], plain: Sequence[Flags]) -> set[str]:
    """Word pieces that occur more often than that of the median word token."""

    def words() -> Iterator[str]:
        for row, flags in zip(rows, plain, strict=True):
            yield from (
                piece for piece, is_word in zip(_pieces(row), flags, strict=True) if is_word
            )

    counts = Counter(words())
    middle = np.median([counts[piece] for piece in words()]) if counts else 0
    return {piece for piece, count in counts.items() if count > middle}


def _flags(row: Mapping[Any, Any], words: Flags, frequent: set[str]) -> Flags:
    special = np.asarray(row["special"], dtype=bool)
    first = special & (np.arange(len(special)) == 0)
    often = words & np.array([piece in frequent for piece in _pieces(row)])
    separator, marks = special & ~first, ~special & ~words
    kinds = (first, separator, special, marks, often, words & ~often)
    assert len(kinds) == len(KINDS)
    return np.stack(kinds, axis=-1)
