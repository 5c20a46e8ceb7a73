"""What heads attend to, by several measures of attention (sections 4.4, 4.5 and 5)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from darksecrets.beyond.attention_measures.running import Running
from darksecrets.paper.features.measures import measure_several
from darksecrets.paper.features.profiles import Collector, Profiles
from darksecrets.paper.features.tokens import describe


def attended(
    maps: Running, annotation: Path, task: str, seed: int
) -> tuple[dict[str, pd.DataFrame], dict[tuple[str, str], Profiles]]:
    """Measure all heads of a task's models.

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
                variant.named(of_variant[name], task)
                for variant, of_variant in zip(maps.variants, found, strict=True)
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
