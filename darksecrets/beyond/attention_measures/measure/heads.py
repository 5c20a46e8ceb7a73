"""What heads attend to, and along which links, by several measures of attention."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from darksecrets.beyond.attention_measures.measure.running import Running
from darksecrets.paper.features.measuring import measure_several
from darksecrets.paper.features.profiles import Collector, Profiles
from darksecrets.paper.features.tokens import describe
from darksecrets.paper.framenet.heads import Linked, measure, tables
from darksecrets.paper.framenet.links import Annotation


def attended(
    maps: Running, annotation: Path, task: str, seed: int
) -> tuple[dict[str, pd.DataFrame], dict[tuple[str, str], Profiles]]:
    """Measure all heads of a task's models (sections 4.4, 4.5 and 5).

    Args:
        maps: Maps of all measures and models on the sampled examples.
        annotation: Annotation of the examples.
        task: Name of the task.
        seed: Seed of the controls.

    Returns:
        The `paper.features.measures.TABLES`, with the column ``measure``; and, by
        measure and model, what comparisons of models need of every example.
    """
    collectors = [Collector() for _ in maps.variants]
    found = measure_several(maps, describe(maps, annotation), seed, collectors)
    tables = {
        name: pd.concat(
            [
                variant.named(variant_maps[name], task)
                for variant, variant_maps in zip(maps.variants, found, strict=True)
            ],
            ignore_index=True,
        )
        for name in found[0]
    }
    kept = {
        (variant.measure, variant.model): collector.profiles()
        for variant, collector in zip(maps.variants, collectors, strict=True)
    }
    return tables, kept


def linked(
    maps: Running, annotations: Sequence[Annotation], draws: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure links by all heads of some models, each model and measure by itself (section 4.2).

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
        head_rows, control_rows = tables(weights.of(variant.heads), draws, seed)
        heads.append(variant.named(head_rows, None))
        controls.append(variant.named(control_rows, None))
    return pd.concat(heads, ignore_index=True), pd.concat(controls, ignore_index=True)
