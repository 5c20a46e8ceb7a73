"""Which tokens of encoded examples are punctuation."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Flags
from darksecrets.core.data.tasks import SENTENCES


def punctuation(table: pd.DataFrame, examples: Mapping[str, Sequence[Any]]) -> list[Flags]:
    """Which tokens consist of punctuation characters (Unicode's category P) alone.

    Args:
        table: A row per example, see `core.attention.extraction.encode_longest_first`.
        examples: The same examples: ``idx`` and their sentences.

    Returns:
        For every row, [L]; special tokens are none.
    """
    texts = {
        idx: [examples[name][place] for name in SENTENCES if name in examples]
        for place, idx in enumerate(examples["idx"])
    }
    return [_row_flags(row, texts[row["idx"]]) for row in table.to_dict("records")]


def _row_flags(row: Mapping[Any, Any], sentences: Sequence[str]) -> Flags:
    places = zip(row["segments"], row["starts"], row["ends"], strict=True)
    tokens = [sentences[segment][start:end].strip() for segment, start, end in places]
    found = [bool(text) and all(map(_is_punctuation, text)) for text in tokens]
    return np.array(found, dtype=np.bool_) & ~np.asarray(row["special"], dtype=np.bool_)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")
