"""The paper's analyses of heads, on other measures of attention than its weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from darksecrets.features.measures import measure_several
from darksecrets.features.profiles import Collector, Profiles
from darksecrets.features.tokens import describe
from darksecrets.framenet import heads as framenet
from darksecrets.framenet.links import Annotation
from darksecrets.opinions.running import Running, Variant
from darksecrets.run.columns import MEASURE, WEIGHTS
from darksecrets.run.tables import identify


def of_task(
    maps: Running, annotation: Path, task: str, seed: int
) -> tuple[dict[str, pd.DataFrame], dict[Path, Profiles]]:
    """Measure what the heads of a task's models attend to (sections 4.4, 4.5 and 5).

    Args:
        maps: Maps of all measures and models.
        annotation: Annotation of the examples.
        task: Name of the task.
        seed: Seed of the controls.

    Returns:
        A table for each of `features.measures.MEASURES`, with the column ``measure``; and what
        comparisons of models need of every example, by a path in a folder, see `profiles_in`.
    """
    collectors = [Collector() for _ in maps.variants]
    found = measure_several(maps, describe(maps, annotation), seed, collectors)
    tables = {
        name: pd.concat(
            [
                _named(identify(of_variant[name], task, variant.model), variant)
                for variant, of_variant in zip(maps.variants, found, strict=True)
            ],
            ignore_index=True,
        )
        for name in found[0]
    }
    both = zip(maps.variants, collectors, strict=True)
    return tables, {
        profiles_in(Path(), variant.measure, variant.model): collector.profiles()
        for variant, collector in both
    }


def profiles_in(folder: Path, measure: str, model: str) -> Path:
    """Where the profiles of a model by a measure are in the folder of a task."""
    return folder / measure / f"{model}.npz"


def of_links(
    maps: Running, annotations: Sequence[Annotation], draws: int, seed: int
) -> pd.DataFrame:
    """Measure how much heads attend along frame-semantic links (section 4.2).

    Args:
        maps: Maps of all measures and models on the sentences.
        annotations: Their links.
        draws: See `framenet.heads.table`.
        seed: See `framenet.heads.table`.

    Returns:
        `framenet.tables.HEADS`, with the column ``measure``.
    """
    weights = framenet.measure(framenet.Linked(maps, annotations))
    parts = [
        _named(
            identify(
                framenet.table(weights.of(variant.heads), draws, seed), None, variant.model
            ),
            variant,
        )
        for variant in maps.variants
    ]
    return pd.concat(parts, ignore_index=True)


def with_weights(weights: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Rows of attention weights, then those of the other measures, in a table `by_measure`.

    Args:
        weights: A table of attention weights, without the column ``measure``.
        others: The same of other measures, with it.
    """
    named = weights.assign(**{MEASURE.name: WEIGHTS})
    return pd.concat([named[list(others.columns)], others], ignore_index=True)


def _named(table: pd.DataFrame, variant: Variant) -> pd.DataFrame:
    """The table with the measure as its first column."""
    return pd.concat(
        [pd.Series(variant.measure, table.index, name=MEASURE.name), table], axis=1
    )
