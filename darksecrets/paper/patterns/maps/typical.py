"""A map of every pattern among those of a run, short enough for readable tokens (Figure 1)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Halves
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.files import atomic
from darksecrets.core.run.states import FINETUNED, PRETRAINED
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.tables import PATTERN_MAPS, TYPICAL_MAPS

READABLE = 20
"""Length of the longest map whose tokens are readable at the size of Figure 1."""
_ORDER = ("plain", "short", "probability")


def drawn_models(
    models: Iterable[tuple[str, str]], unlearned: Collection[str]
) -> list[tuple[str, str]]:
    """The models whose maps may be drawn: pre-trained and fine-tuned, of tasks that were learned.

    If no task was learned, they are the pre-trained ones of all tasks.

    Args:
        models: Task and folder of the maps, such as ``finetuned/seed-1``, of each model.
        unlearned: Tasks that fine-tuned models have not learned.
    """
    pretrained, learned = [], []
    for task, model in models:
        state = model.partition("/")[0]
        if state == PRETRAINED:
            pretrained.append((task, model))
        if state in (PRETRAINED, FINETUNED) and task not in unlearned:
            learned.append((task, model))
    return learned or pretrained


def choose(models: Iterable[tuple[Path, Path]]) -> tuple[pd.DataFrame, list[Halves]]:
    """Choose the map of every pattern that the network is most certain of.

    Maps come first that have the same pattern by both definitions, then those that are no longer
    than `READABLE`, then the more probable ones. Of equals, the first is taken.

    Args:
        models: Of each model, its table `PATTERN_MAPS` and its attention store.

    Returns:
        The table `TYPICAL_MAPS`, a row per pattern that some map has, in their order; and the maps,
        [query, key].
    """
    candidates, stores = [], []
    for number, (patterns, folder) in enumerate(models):
        store = AttentionStore.open(folder)
        stores.append(store)
        lengths = pd.Series(store.lengths, index=store.idx)
        maps = PATTERN_MAPS.read(patterns)
        maps["plain"] = maps["pattern"] == maps["lenient"]
        maps["short"] = maps["idx"].map(lengths) <= READABLE
        candidates.append(_surest(maps).assign(store=number))
    best = _surest(pd.concat(candidates, ignore_index=True)).set_index("pattern", drop=False)
    chosen = best.loc[[name for name in PATTERNS if name in best.index]]
    tokens, maps_of_patterns = [], []
    for row in chosen.to_dict("records"):
        store = stores[row["store"]]
        example = store.idx.tolist().index(row["idx"])
        tokens.append(store.spaced_tokens(example))
        weights = store.maps(example)[row["layer"] - 1, row["head"] - 1]
        maps_of_patterns.append(np.array(weights))
    table = chosen.assign(tokens=tokens).reset_index(drop=True)[list(TYPICAL_MAPS.names)]
    return table, maps_of_patterns


def _surest(maps: pd.DataFrame) -> pd.DataFrame:
    """The first map of every pattern, in the order that `choose` describes."""
    ordered = maps.sort_values(list(_ORDER), ascending=False, kind="stable")
    return ordered.drop_duplicates("pattern")


def save(patterns: Iterable[str], maps: Sequence[Halves], path: Path) -> None:
    """Write maps, each under the name of its pattern."""
    arrays: dict[str, Any] = dict(zip(patterns, maps, strict=True))
    with atomic(path) as temporary:
        np.savez_compressed(temporary, **arrays)


def read(patterns: Iterable[str], path: Path) -> list[Halves]:
    """Read the maps of patterns.

    Raises:
        InputError: One is missing, or the file is damaged.
    """
    names = list(patterns)
    arrays = read_arrays(path, *names)
    return [arrays[name] for name in names]
