"""Attention along frame-semantic links, by several measures of attention (section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from darksecrets.attention_measures.running import Running
from darksecrets.framenet.heads import Linked, measure, table
from darksecrets.framenet.links import Annotation


def linked(maps: Running, annotations: Sequence[Annotation], draws: int, seed: int) -> pd.DataFrame:
    """Measure all heads of some models, each model and measure tested by itself.

    Args:
        maps: Maps of all measures and models on the sentences.
        annotations: Their links.
        draws: See `framenet.heads.table`.
        seed: See `framenet.heads.table`.

    Returns:
        `framenet.tables.HEADS`, with the column ``measure``.
    """
    weights = measure(Linked(maps, annotations))
    parts = [
        variant.named(table(weights.of(variant.heads), draws, seed), None)
        for variant in maps.variants
    ]
    return pd.concat(parts, ignore_index=True)
