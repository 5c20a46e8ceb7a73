"""One sentence in detail: maps of some heads for Figure 3."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats, Halves, Texts
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.files import atomic
from darksecrets.paper.framenet.heads import Linked, Positions, Sentence
from darksecrets.paper.framenet.links import Annotation
from darksecrets.paper.framenet.tables import DIRECTIONS, ELEMENT_TO_PREDICATE

PAPER = "he was becoming agitated"
"""The paper's example; it is shown if the links contain it."""

SHOWN = 2
"""Heads whose maps are shown, as in the paper."""


@dataclass(frozen=True)
class Example:
    """The maps of some heads on one sentence; layers and heads count from 1.

    Attributes:
        idx: Number of the sentence.
        tokens: [L] word pieces.
        layers: [maps] layer of each map.
        heads: [maps] head of each map.
        maps: [maps, query, key] attention.
        element: Word pieces of the element.
        predicate: Word pieces of the predicate.
    """

    idx: int
    tokens: Texts
    layers: Positions
    heads: Positions
    maps: Halves
    element: Positions
    predicate: Positions

    def save(self, path: Path) -> None:
        """Write all arrays, atomically."""
        with atomic(path) as temporary:
            np.savez_compressed(temporary, **vars(self))

    @classmethod
    def load(cls, path: str | Path) -> Example:
        """Read what `save` wrote.

        Raises:
            InputError: The file is missing or damaged.
        """
        arrays = read_arrays(Path(path), *cls.__annotations__)
        found: dict[str, Any] = {name: arrays[name] for name in cls.__annotations__}
        return cls(**found | {"idx": int(arrays["idx"])})


def shown_heads(table: pd.DataFrame) -> tuple[Positions, Positions]:
    """Layers and heads to show: of the published direction, the two with the greatest weights.

    Heads that exceed all controls come first, then those above the percentile.

    Args:
        table: The first of `heads.tables`.
    """
    published = table[table["direction"] == ELEMENT_TO_PREDICATE]
    order = ["exceeds_controls", "above_percentile", "weight"]
    places = published.sort_values(order, ascending=False, kind="stable").head(SHOWN)
    return places["layer"].to_numpy(np.int64), places["head"].to_numpy(np.int64)


def choose(
    store: AttentionStore, annotations: list[Annotation], linked: Floats, table: pd.DataFrame
) -> Example:
    """Choose the heads and the sentence that Figure 3 shows.

    The sentence is the paper's, if the links contain it; otherwise the one whose links get the most
    attention, averaged over these heads: an illustration, not a typical case. Of its links, the one
    with the most attention is kept.

    Args:
        store: Maps of the sentences.
        annotations: Their links.
        linked: [sentence, direction, layer, head] weights of the sentences that are measured.
        table: The first of `heads.tables`.
    """
    layers, heads = shown_heads(table)
    strength = linked[:, DIRECTIONS.index(ELEMENT_TO_PREDICATE), layers - 1, heads - 1].mean(axis=1)
    measured = Linked(store, annotations).measured()
    papers = [i for i in measured if annotations[i].sentence.lower().startswith(PAPER)]
    idx = papers[0] if papers else measured[int(strength.argmax())]
    sentence, tokens = _read(store, annotations, idx)
    maps = np.asarray(sentence.maps, dtype=np.float16)[layers - 1, heads - 1]
    weights = [maps[:, e[:, None], p].max(axis=(1, 2)).mean() for e, p in sentence.links]
    element, predicate = sentence.links[int(np.argmax(weights))]
    return Example(idx, tokens, layers, heads, maps, element, predicate)


def _read(store: AttentionStore, annotations: list[Annotation], idx: int) -> tuple[Sentence, Texts]:
    """A sentence and its word pieces."""
    example = int(np.flatnonzero(store.idx == idx)[0])
    return Linked(store, annotations).sentence(idx), np.array(store.tokens(example))
