"""The page of an inspection: all heads small, one large, in one file that loads nothing."""

from __future__ import annotations

import base64
import html
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Halves
from darksecrets.core.data.alignment import overlaps
from darksecrets.core.data.words import spans_of
from darksecrets.core.plotting import one_file
from darksecrets.core.plotting.colours import PATTERNS
from darksecrets.pages.inspect.texts import MOST
from darksecrets.paper.features.tables import SHARES, STATISTICS

_STRONGEST = 3
_LEVELS = 255
_LIMIT = 20_000_000
"""Characters that all maps may take; examples that do not fit are left out, the last ones first."""
_PARTS = Path(__file__).parent / "page"


@dataclass(frozen=True)
class Heads:
    """What the heads of an encoder do on some examples.

    Attributes:
        examples: See `Inspection`, likewise ``pieces``, ``maps`` and ``patterns``.
        pieces: A row per example.
        maps: For each example, [layer, head, query, key].
        patterns: The pattern of every map; None if they are not known.
        statistics: Table ``head_statistics``.
    """

    examples: pd.DataFrame
    pieces: pd.DataFrame
    maps: Sequence[Halves]
    patterns: pd.DataFrame | None
    statistics: pd.DataFrame


def page(found: Heads, label: str, most: int = MOST) -> str:
    """The whole page.

    Args:
        found: What is shown.
        label: What is said under the sentence: the model.
        most: Largest number of examples, the first ones.
    """
    style, script = _read("style.css"), one_file.scoped(_read("page.js"))
    shown = content(found, label, most)
    parts = {
        "policy": one_file.policy(script, style),
        "title": html.escape(shown["examples"][0]["text"]),
        "style": style,
        "content": one_file.embedded(shown),
        "script": script,
    }
    return one_file.filled(_read("page.html"), parts)


def content(found: Heads, label: str, most: int = MOST) -> dict[str, Any]:
    """What the page shows, as its script reads it; for the arguments see `page`."""
    layers, heads = found.maps[0].shape[:2]
    examples = list(_fitting(found, most))
    count, every = len(examples), len(found.maps)
    note = f"The first {count} of {every} examples are shown." if count < every else ""
    return {
        "label": " · ".join(filter(None, (label, note))),
        "layers": layers,
        "heads": heads,
        "colours": dict(PATTERNS),
        "strongest": strongest(found.statistics),
        "uniform": uniform(found.statistics),
        "examples": examples,
    }


def _fitting(found: Heads, most: int) -> Iterator[dict[str, Any]]:
    """The first examples, as many as there is room for, but one at least."""
    room = _LIMIT
    for number in range(min(most, len(found.maps))):
        example = _example(found, number)
        room -= len(example["maps"])
        if number and room < 0:
            return
        yield example


def _example(found: Heads, number: int) -> dict[str, Any]:
    row, pieces = found.examples.iloc[number], found.pieces.iloc[number]
    texts = [text for text in (row["sentence1"], row["sentence2"]) if text]
    patterns = None
    if found.patterns is not None:
        own = found.patterns[found.patterns["idx"] == row["idx"]].sort_values(["layer", "head"])
        certain = own["probability"].astype(float).round(3)
        patterns = [[*pair] for pair in zip(own["pattern"], certain, strict=True)]
    return {
        "text": " ||| ".join(texts),
        "cut": int(row["cut"]),
        "tokens": written(pieces, texts),
        "words": words_of(pieces, texts),
        "segments": [*map(int, pieces["segments"])],
        "maps": _packed(found.maps[number]),
        "patterns": patterns,
    }


def written(pieces: pd.Series[Any], texts: Sequence[str]) -> list[str]:
    """Tokens as the text has them, without the signs of a tokenizer; special ones by their names.

    Args:
        pieces: A row of the examples of a store.
        texts: The sentences of the example.
    """
    columns = ("tokens", "segments", "special", "starts", "ends")
    places = zip(*(pieces[column] for column in columns), strict=True)
    return [
        token if special or start == end else texts[segment][start:end]
        for token, segment, special, start, end in places
    ]


def words_of(pieces: pd.Series[Any], texts: Sequence[str]) -> list[int]:
    """Number of the word of each token, from 0; a token in no word, as a special one, is its own.

    Words are those of `darksecrets.core.data.words`; a token in several belongs to the first.
    """
    segments, special = np.asarray(pieces["segments"]), np.asarray(pieces["special"], dtype=bool)
    offsets = np.stack([pieces["starts"], pieces["ends"]], axis=1)
    words: list[tuple[int, int] | None] = [None] * len(segments)  # sentence and place in it
    for sentence, text in enumerate(texts):
        spans = np.array(spans_of(text)).reshape(-1, 2)
        inside = overlaps(offsets, segments, special, sentence, spans)
        for token in np.flatnonzero(inside.any(axis=1)).tolist():
            words[token] = (sentence, int(inside[token].argmax()))
    numbers = [0]
    for before, word in itertools.pairwise(words):
        numbers.append(numbers[-1] + (word is None or word != before))
    return numbers


def strongest(statistics: pd.DataFrame) -> dict[str, list[list[Any]]]:
    """For each statistic, the heads with the greatest mean over the examples, and the mean."""
    found = {}
    for kind in STATISTICS:
        rows = statistics[statistics["statistic"] == kind].nlargest(_STRONGEST, "value")
        unit = "" if kind in SHARES else " nats"
        found[kind] = [
            [int(row["layer"]), int(row["head"]), f"{row['value']:.2f}{unit}"]
            for row in rows.to_dict("records")
        ]
    return {kind: heads for kind, heads in found.items() if heads}


def uniform(statistics: pd.DataFrame) -> dict[str, str]:
    """For each statistic, its mean if a head attends to all tokens alike."""
    means = statistics.groupby("statistic")["uniform"].mean()
    return {str(kind): f"{value:.2f}" for kind, value in means.items()}


def _packed(maps: Halves) -> str:
    """[layer, head, query, key] weights as text: their roots, 8 bits each.

    The root spends more levels on small weights, of which maps have most. A weight w is off by at
    most √w / 255 + 1 / 510².
    """
    roots = np.sqrt(np.clip(maps.astype(np.float32), 0, 1))
    return base64.b64encode(np.rint(roots * _LEVELS).astype(np.uint8).tobytes()).decode()


def _read(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")
