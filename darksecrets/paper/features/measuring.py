"""Measure every head in one pass over its maps (sections 4.4, 4.5 and 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from darksecrets.core.attention.store import Maps
from darksecrets.paper.features import profiles, tables
from darksecrets.paper.features.batches import Batch, batches, uniform_batch
from darksecrets.paper.features.cells import Survey, control_cells, greatest_by_example
from darksecrets.paper.features.labels import FEATURES
from darksecrets.paper.features.measures import MEASURES, Sums, control_rows
from darksecrets.paper.features.profiles import Collector, Values, all_token_measures
from darksecrets.paper.features.tables import FROM_CLS, GREATEST
from darksecrets.paper.features.tokens import Tokens, describe


def measure(
    maps: Maps,
    tokens: Iterable[Tokens],
    seed: int,
    max_bytes: int = 2**22,
    collector: Collector | None = None,
) -> dict[str, pd.DataFrame]:
    """Measure every head of a model on a task: the tidy `TABLES`.

    The column ``control`` is the mean over `DRAWS` random choices per example. For a feature, as
    many ordinary tokens are drawn, with chances proportional to the feature's frequency in their
    part of an example. For pairs, see `controls.pairs_at_the_same_distance`. The choices depend on
    the seed and the example, not on the model. All values are averaged over the examples that have
    the feature, relation or words. Pairs are also tested against further controls, see `pairs`.

    Args:
        maps: Maps of the model.
        tokens: The tokens of each example, in the order of the maps. They are iterated over twice,
            first for the `Survey` that controls are drawn from.
        seed: Seed of the controls.
        max_bytes: Largest size of a batch of maps.
        collector: Gathers what is kept of every example; None to keep nothing.
    """
    (tables,) = measure_several(maps, tokens, seed, [collector], max_bytes)
    return tables


def measure_into(folder: Path, maps: Maps, annotation: Path, seed: int) -> dict[str, pd.DataFrame]:
    """Measure every head of a model in one pass over its maps.

    Args:
        folder: Where the file of `profiles` is written.
        maps: Maps of the model.
        annotation: The words of the examples, see `darksecrets.paper.features.annotation`.
        seed: Seed of the controls.

    Returns:
        The table of every measure, see `measure`.
    """
    collector = Collector()
    tokens = describe(maps, annotation)
    found = measure(maps, tokens, seed, collector=collector)
    collector.profiles().save(folder / profiles.FILE)
    return found if tokens.has_words else known_without_words(found)


def known_without_words(measures: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Measures of examples whose words are not annotated.

    Features of words and pairs of tokens have no rows. Attention to punctuation would be 0, but is
    unknown.
    """
    statistics = measures[tables.HEAD_STATISTICS.name]
    known = statistics[statistics["statistic"] != "punctuation"].reset_index(drop=True)
    return {**measures, tables.HEAD_STATISTICS.name: known}


def measure_several(
    maps: Maps,
    tokens: Iterable[Tokens],
    seed: int,
    collectors: Sequence[Collector | None],
    max_bytes: int = 2**23,
) -> list[dict[str, pd.DataFrame]]:
    """Measure several models at once, each by itself, as `measure` does.

    The cells of an example, and those drawn as controls, are the same for all models.

    Args:
        maps: Maps whose heads are those of the first model, then those of the second, and so on.
        tokens: See `measure`.
        seed: See `measure`.
        collectors: One for each model, see `measure`.
        max_bytes: Largest size of a batch of the maps of all models.
    """
    models, own = len(collectors), maps.heads // len(collectors)
    parts = [slice(first * own, (first + 1) * own) for first in range(models)]
    sums: dict[str, Sums] = {}
    survey = Survey.of(tokens)
    for some, batch in batches(maps, tokens, max_bytes):
        idx = [one.idx for one in some]
        drawn = replace(batch, cells=control_cells(some, survey, seed))
        uniform = uniform_batch(batch)
        for name, entry in MEASURES.items():
            found = entry.sums(batch, drawn, uniform)
            known: tuple[Any, ...] = sums.setdefault(name, found)
            for total, more in zip(known, found, strict=True):
                if more is not None and more is not total:
                    total += more
        if any(collector is not None for collector in collectors):
            _collect(collectors, parts, idx, batch, drawn, uniform)
    return [_tables(sums, part) for part in parts]


def _tables(sums: Mapping[str, Sums], heads: slice) -> dict[str, pd.DataFrame]:
    """The `TABLES` of some heads of all layers."""
    own: dict[str, Any] = {
        name: [each if each is None else each.of(heads) for each in name_sums]
        for name, name_sums in sums.items()
    }
    means = {name: real.means() for name, (real, *_) in own.items()}
    found = {name: entry.rows(means, *own[name]) for name, entry in MEASURES.items()}
    real, _, differences = own[tables.EQUAL_WORDS.name]
    found[tables.EQUAL_WORD_CONTROLS.name] = control_rows(real, differences)
    return found


def _collect(
    collectors: Sequence[Collector | None],
    parts: Sequence[slice],
    idx: list[int],
    batch: Batch,
    drawn: Batch,
    uniform: Batch,
) -> None:
    """Let the collector of every model gather what is kept of the examples of a batch."""
    values = {**token_measures(batch), **all_token_measures(batch.columns, batch.features)}
    even = {**token_measures(uniform), **all_token_measures(uniform.columns, uniform.features)}
    control = token_measures(drawn)
    for collector, part in zip(collectors, parts, strict=True):
        if collector is not None:
            own, random = (
                {name: head_values[..., part] for name, head_values in every.items()}
                for every in (values, control)
            )
            collector.add(idx, batch.features, own, even, random)


def token_measures(batch: Batch) -> Values:
    """The measures of `profiles.CONTROLLED` of every example, of the batch's cells."""
    cells, size = batch.cells.features, (len(batch.half), len(FEATURES))
    examples, _, keys = cells.flat()
    stripe = greatest_by_example(cells, batch.columns[examples, keys], *size)
    from_cls = greatest_by_example(cells, batch.weights(cells, batch.heads[0] - 1), *size)
    return {GREATEST: stripe, FROM_CLS: from_cls}
