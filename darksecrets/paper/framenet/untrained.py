"""How many heads attend along links without any training (section 4.2)?

Of 144 heads in two directions, some exceed all controls by chance, or because weights that encode
nothing treat a frequent word in one way. How many do is a random number; here are several draws.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Halves
from darksecrets.core.attention.extraction import extract_maps
from darksecrets.core.attention.store import AttentionStore, Maps
from darksecrets.core.models.loading import Draw
from darksecrets.core.run.progress import progress
from darksecrets.core.run.states import RANDOM
from darksecrets.paper.framenet.heads import Linked, heads_table, measure
from darksecrets.paper.framenet.links import Annotation
from darksecrets.paper.framenet.tables import RANDOM_HEADS

ENCODERS = 20
"""Draws of random weights: one more would have more heads than any of these in 1 of 21 cases."""


@dataclass(frozen=True)
class JoinedMaps(Maps):
    """The maps of several encoders of one shape: a layer has the heads of all, one after the other.

    Attributes:
        stores: The maps of each encoder, of the same examples.
    """

    stores: Sequence[AttentionStore]

    @classmethod
    def of(cls, stores: Sequence[AttentionStore]) -> JoinedMaps:
        """Join the heads of the stores."""
        one = stores[0]
        return cls(one.layers, len(stores) * one.heads, one.table, one.windows, stores)

    @property
    def origin(self) -> str:
        """Where the maps are from, for messages."""
        return f"{len(self.stores)} encoders with random weights"

    def batch(self, examples: range) -> Halves:
        """Maps of consecutive examples of equal length, [example, layer, head, query, key]."""
        return np.concatenate([store.batch(examples) for store in self.stores], axis=2)


def count_exceeding(
    model: Path,
    annotations: Sequence[Annotation],
    draws: Sequence[Draw],
    extraction: Mapping[str, Any],
    tests: Mapping[str, int],
) -> pd.DataFrame:
    """Draw encoders with random weights, and count their heads that exceed all controls.

    Args:
        model: Folder of the model whose architecture and tokenizer they have.
        annotations: The links.
        draws: How the weights of each are drawn.
        extraction: ``max_length`` and ``batch_size`` of `extract_maps`.
        tests: ``draws`` and ``seed`` of `heads_table`.

    Returns:
        The table `RANDOM_HEADS`.
    """
    texts = {"sentence1": [annotation.sentence for annotation in annotations]}
    stores = []
    with (
        tempfile.TemporaryDirectory() as folder,
        progress("Encoders with random weights", len(draws), "encoders") as advance,
    ):
        for draw in draws:
            store = Path(folder) / str(draw.seed)
            extract_maps(model, texts, store, draw=draw, **extraction)
            stores.append(AttentionStore.open(store))
            advance(1)
        weights = measure(Linked(JoinedMaps.of(stores), annotations))
    heads, rows = stores[0].heads, []
    for number, draw in enumerate(draws):
        found = heads_table(weights.of(slice(number * heads, (number + 1) * heads)), **tests)
        rows.append((RANDOM, draw.seed, int(found["exceeds_controls"].sum())))
    return pd.DataFrame(rows, columns=list(RANDOM_HEADS.names))
