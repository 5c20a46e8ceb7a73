"""Maps of the heads with the greatest weights on one sentence, saved for Figure 3."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from darksecrets.attention.store import AttentionStore, HalfArray
from darksecrets.framenet.heads import Positions, Weights, links_in
from darksecrets.framenet.links import Annotation
from darksecrets.run.files import atomic
from darksecrets.stats.percentiles import above_percentile


@dataclass(frozen=True)
class Example:
    """The maps of some heads on one sentence; layers and heads count from 1.

    Attributes:
        tokens: [L] word pieces.
        layers: [maps] layer of each map.
        heads: [maps] head of each map.
        maps: [maps, query, key] attention.
        element: Word pieces of the element.
        predicate: Word pieces of the predicate.
    """

    tokens: npt.NDArray[np.str_]
    layers: Positions
    heads: Positions
    maps: HalfArray
    element: Positions
    predicate: Positions

    def save(self, path: Path) -> None:
        """Write all arrays, atomically."""
        with atomic(path) as temporary:
            np.savez_compressed(temporary, **vars(self))

    @classmethod
    def load(cls, path: str | Path) -> Example:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(**arrays)


def choose(store: AttentionStore, annotations: list[Annotation], weights: Weights) -> Example:
    """Choose the heads that Figure 3 frames, and the sentence that shows their links best.

    It is the sentence whose links get the most attention, averaged over these heads: an
    illustration, not a typical case. Of its links, the one with the most attention is kept.

    Args:
        store: Maps of the sentences.
        annotations: Their links.
        weights: Of the same sentences.
    """
    published = 0
    highest = above_percentile(weights.drawn[0, published], or_highest=True)
    layers, heads = np.nonzero(highest)
    order = np.argsort(-weights.drawn[0, published, layers, heads], kind="stable")
    layers, heads = layers[order], heads[order]
    idx = int(weights.sentences[:, published, layers, heads].mean(axis=1).argmax())
    example = int(np.flatnonzero(store.idx == idx)[0])
    maps = store.maps(example)[layers, heads]
    links = links_in(store, example, annotations[idx])
    strength = [maps[:, rows[:, None], columns].max(axis=(1, 2)).mean() for rows, columns in links]
    element, predicate = links[int(np.argmax(strength))]
    tokens = np.array(store.tokens(example))
    return Example(tokens, layers + 1, heads + 1, maps, element, predicate)
