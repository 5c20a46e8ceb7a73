"""Attention along frame-semantic links, by several measures of attention (section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from darksecrets.beyond.attention_measures.running import Running
from darksecrets.paper.framenet.heads import Linked, measure, tables
from darksecrets.paper.framenet.links import Annotation


def linked(
    maps: Running, annotations: Sequence[Annotation], draws: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure all heads of some models, each model and measure tested by itself.

    Args:
        maps: Maps of all measures and models on the sentences.
        annotations: Their links.
        draws: See `paper.framenet.heads.tables`.
        seed: See `paper.framenet.heads.tables`.

    Returns:
        `paper.framenet.tables.HEADS` and `CONTROLS_OF_HEADS`, with the column ``measure``.
    """
    weights = measure(Linked(maps, annotations))
    heads, controls = [], []
    for variant in maps.variants:
        of_heads, of_controls = tables(weights.of(variant.heads), draws, seed)
        heads.append(variant.named(of_heads, None))
        controls.append(variant.named(of_controls, None))
    return pd.concat(heads, ignore_index=True), pd.concat(controls, ignore_index=True)
