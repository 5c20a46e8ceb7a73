"""What every head attends to, in one pass over its maps (sections 4.4, 4.5 and 5).

A measure is a function of a batch of maps with an entry in `MEASURES`; its table, the rule that
makes it and the table of the run follow from the entry. Most measures are the largest weight in
some cells of a map, averaged over the examples that have such cells. Their controls use the cells
of random tokens or pairs. Maps and their tokens' features are read batch by batch, and only sums
are kept.

In layers with local attention, the cells that a query cannot reach are left out, and means over
queries are means over those that can reach the token.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Flags, Floats, Halves, Integers, Reals, Singles
from darksecrets.core.attention.entropy import entropy_sums
from darksecrets.core.attention.store import Maps, Reach, any_window
from darksecrets.core.run.columns import MAPS, names
from darksecrets.core.run.tables import Table
from darksecrets.core.stats.controls import pairs_at_the_same_distance, tokens_at_likely_places
from darksecrets.paper.features import profiles, tables
from darksecrets.paper.features.labels import FEATURES, RELATIONS
from darksecrets.paper.features.pairs import (
    Additive,
    Differences,
    Drawn,
    PairCells,
    draw_at_relative_places,
    hexagons,
    other_keys,
    other_queries,
)
from darksecrets.paper.features.profiles import Collector, Values, all_token_measures, quotient
from darksecrets.paper.features.tables import (
    CONTROLS,
    DISTANCE,
    EQUAL,
    FORM,
    FROM_CLS,
    GREATEST,
    KEY,
    PLACE,
    SHARES,
    STATISTICS,
)
from darksecrets.paper.features.tokens import Tokens, describe

DIAGONAL = ("previous", "self", "next")
_CLASSES = [FEATURES.index(name) for name in ("noun", "verb", "pronoun")]

#: Random sets of tokens, or pairs, per real set.
DRAWS = 10
#: Equal parts of an example; the frequency of a feature is counted in each.
PLACES = 10
#: Chance of a token in a part that never has the feature: drawn only if no others are left.
_LEAST = 1e-9


@dataclass
class Cells:
    """Sets of cells in the maps of a batch; a set has a kind and belongs to one example.

    Attributes:
        examples: Number of the example in the batch. Like the others, an entry per call of `add`.
        kinds: Number of the feature or relation.
        queries: [sets, cells of a set] rows of the map.
        keys: [sets, cells of a set] columns of the map.
    """

    examples: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    queries: list[Integers] = field(default_factory=list)
    keys: list[Integers] = field(default_factory=list)

    def add(self, example: int, kind: int, queries: Integers, keys: Integers) -> None:
        """Add sets of equal size; empty sets are ignored."""
        if keys.size:
            self.examples.append(example)
            self.kinds.append(kind)
            self.queries.append(np.broadcast_to(queries, keys.shape))
            self.keys.append(keys)

    def flat(self) -> tuple[Integers, Integers, Integers]:
        """[cells] example, query and key of every cell, set after set."""
        sizes = [keys.size for keys in self.keys]
        empty = [np.empty(0, dtype=np.int64)]
        queries, keys = (
            np.concatenate(empty + [part.ravel() for part in parts])
            for parts in (self.queries, self.keys)
        )
        return np.repeat(np.array(self.examples, dtype=np.int64), sizes), queries, keys

    def sets(self) -> tuple[Integers, Integers]:
        """[sets] kind and number of cells of every set."""
        counts = [len(keys) for keys in self.keys]
        sizes = np.repeat([keys.shape[1] for keys in self.keys], counts).astype(np.int64)
        return np.repeat(np.array(self.kinds, dtype=np.int64), counts), sizes


def reduced_sets(cells: Cells, values: Reals, how: np.ufunc) -> Floats:
    """Reduce the values of the cells of every set.

    Args:
        cells: The sets, at least one.
        values: [cells, ...heads] in the order of `Cells.flat`; NaN where a head cannot reach it.
            Such cells are left out.
        how: ``np.fmax``, or ``np.add`` for the mean over the cells of a set.

    Returns:
        [sets, ...heads]; NaN for a set without cells in reach.
    """
    _, sizes = cells.sets()
    starts = np.cumsum(sizes) - sizes
    if how is np.add:
        reached = ~np.isnan(values)
        sums = how.reduceat(np.where(reached, values, 0.0), starts, axis=0, dtype=np.float64)
        return quotient(sums, np.add.reduceat(reached, starts, axis=0, dtype=np.int64))
    return how.reduceat(values.astype(np.float64), starts, axis=0)


def greatest_by_example(cells: Cells, values: Reals, examples: int, kinds: int) -> Floats:
    """[examples, kinds, ...heads] greatest value of a set, mean over the sets of an example.

    Args:
        cells: The sets.
        values: [cells, ...heads], see `reduced_sets`.
        examples: Number of examples.
        kinds: Number of kinds.

    Returns:
        NaN for examples without cells of the kind, or without any in reach.
    """
    found = np.full((examples, kinds, *values.shape[1:]), np.nan)
    if not len(cells.kinds):
        return found
    greatest = reduced_sets(cells, values, np.fmax)
    known = ~np.isnan(greatest)
    counts = np.array([len(keys) for keys in cells.keys])
    starts = np.cumsum(counts) - counts
    sums = np.add.reduceat(np.where(known, greatest, 0), starts, axis=0)
    counted = np.add.reduceat(known, starts, axis=0)
    found[cells.examples, cells.kinds] = quotient(sums, counted)
    return found


class Mean(Additive):
    """Means over sets of cells, for every kind, layer and head.

    Attributes:
        sums: [kinds, ...heads] sums over sets; the last axes are layer and head, or head alone.
        sets: [kinds, ...heads] number of sets.
        uniform: [kinds, ...heads] sum over sets of the weight under uniform attention.
    """

    def __init__(self, kinds: int, *heads: int) -> None:
        self.sums = np.zeros((kinds, *heads))
        self.uniform = np.zeros((kinds, *heads))
        self.sets = np.zeros((kinds, *heads), dtype=np.int64)

    def add(self, cells: Cells, values: Reals, how: np.ufunc) -> None:
        """Reduce the values of the cells, [cells, ...heads], set by set, and add them to the sums.

        Args:
            cells: The sets.
            values: Weight of each cell, in the order of `Cells.flat`; NaN where a head cannot reach
                it. Such cells are left out, and so is a set without others.
            how: ``np.fmax``, or ``np.add`` for the mean over the cells of a set.
        """
        kinds, _ = cells.sets()
        if not len(kinds):
            return
        reduced = reduced_sets(cells, values, how)
        kind_flags = (np.arange(len(self.sets))[:, None] == kinds).astype(np.float64)
        counted = ~np.isnan(reduced)
        self.sums += np.tensordot(kind_flags, np.where(counted, reduced, 0.0), axes=1)
        self.sets += np.rint(np.tensordot(kind_flags, counted, axes=1)).astype(np.int64)

    def means(self) -> Floats:
        """[kinds, ...heads] means; NaN where there are no sets."""
        return quotient(self.sums, self.sets)


def column_means(maps: Singles, reach: Reach | None = None) -> Singles:
    """Mean weight that each token receives from the queries that can attend to it.

    Args:
        maps: [example, layer, head, query, key].
        reach: [layer, query, key] which keys a query can attend to; None for all.

    Returns:
        [example, key, layer, head].
    """
    length = maps.shape[-1]
    queries = np.full((1, length), 1 / length, dtype=np.float32)
    means: Singles = np.ascontiguousarray(np.moveaxis((queries @ maps)[..., 0, :], -1, 1))
    if reach is not None:
        means *= (length / reach.sum(axis=1)).T[:, :, None]
    return means


def feature_chances(tokens: Iterable[Tokens]) -> Floats:
    """How often tokens in each part of an example have a feature, over all examples.

    Returns:
        [features, places] number of tokens with the feature per ordinary token.
    """
    having, ordinary = np.zeros((len(FEATURES), PLACES)), np.zeros(PLACES)
    for one in tokens:
        places = places_of(one.special)
        for feature, has in enumerate(one.features.T):
            having[feature] += np.bincount(places[has], minlength=PLACES)
        ordinary += np.bincount(places[~one.special], minlength=PLACES)
    return having / np.maximum(ordinary, 1)


def places_of(special: Flags) -> Integers:
    """[L] which of `PLACES` equal parts of the example each token is in.

    A special token is in the part of the ordinary token beside it ([CLS]: after it, [SEP]: before
    it, as both of RoBERTa's two in a row), because only ordinary tokens are drawn.
    """
    positions = np.arange(len(special))
    ordinary = np.flatnonzero(~special)
    if len(ordinary):
        before = np.searchsorted(ordinary, positions, side="right") - 1
        positions = ordinary[np.maximum(before, 0)]
    return positions * PLACES // len(special)


@dataclass(frozen=True)
class Batch:
    """Maps of some examples of equal length, and what the measures need of them.

    Attributes:
        half: [example, layer, head, query, key] maps, as stored in half precision.
        maps: The same in float32.
        columns: [example, key, layer, head] mean weight that each token receives.
        features: [example, token, feature] which tokens have a feature.
        cells: The cells that measures use: the real ones, or their controls.
        local: Whether the model has layers with local attention.
        reach: [layer, query, key] which keys a query can attend to; None if all can attend to all.
    """

    half: Halves
    maps: Singles
    columns: Singles
    features: Flags
    cells: BatchCells
    local: bool = False
    reach: Reach | None = None

    @property
    def heads(self) -> tuple[int, int]:
        """Number of layers, and of heads per layer."""
        return self.maps.shape[1], self.maps.shape[2]

    @cached_property
    def statistics(self) -> Floats:
        """The statistics of every map, see `statistics_of`."""
        return statistics_of(self)

    def weights(self, cells: Cells, first_layer: int = 0) -> Halves:
        """[cells, layer, head] weights from a layer on; NaN where a layer cannot reach the cell."""
        examples, queries, keys = cells.flat()
        weights = self.half[:, first_layer:][examples, :, :, queries, keys]
        if self.reach is not None:
            weights[~self.reach[first_layer:, queries, keys].T] = np.nan
        return weights


@dataclass(frozen=True)
class BatchCells:
    """Cells of a batch: tokens with a feature (the query is [CLS]), related pairs, equal words.

    Attributes:
        compared: In the controls only: the cells that tests compare, for `pairs` and `equal`.
    """

    features: Cells = field(default_factory=Cells)
    pairs: Cells = field(default_factory=Cells)
    equal: Cells = field(default_factory=Cells)
    compared: dict[str, list[PairCells]] = field(default_factory=lambda: {"pairs": [], "equal": []})


def real_cells(batch: Sequence[Tokens]) -> BatchCells:
    """Cells of the tokens that have a feature and of the pairs that are related."""
    cells = BatchCells()
    first = np.zeros(1, dtype=np.int64)
    for example, one in enumerate(batch):
        for feature, has in enumerate(one.features.T):
            cells.features.add(example, feature, first, np.flatnonzero(has)[None])
        for relation, pairs in enumerate(one.pairs):
            cells.pairs.add(example, relation, pairs[None, :, 0], pairs[None, :, 1])
        cells.equal.add(example, 0, one.equal[None, :, 0], one.equal[None, :, 1])
    return cells


def control_cells(batch: Sequence[Tokens], chances: Floats, seed: int) -> BatchCells:
    """Cells of random tokens and pairs, `DRAWS` sets for every real set."""
    cells = BatchCells()
    first = np.zeros(1, dtype=np.int64)
    for example, one in enumerate(batch):
        rng = np.random.default_rng([seed, one.idx])
        likely = np.where(one.special, 0, np.maximum(chances[:, places_of(one.special)], _LEAST))
        for feature, count in enumerate(one.features.sum(axis=0).tolist()):
            if count:
                drawn = tokens_at_likely_places(count, likely[feature], DRAWS, rng)
                cells.features.add(example, feature, first, drawn)
        rngs = [np.random.default_rng([seed, one.idx, n]) for n in (1, 2, 3)]
        for relation, pairs in enumerate(one.pairs):
            drawn = _random_pairs(pairs, one, rng)
            cells.pairs.add(example, relation, drawn[..., 0], drawn[..., 1])
            _compare(cells, "pairs", example, relation, pairs, drawn, one, rngs)
        drawn = _random_pairs(one.equal, one, rng)
        cells.equal.add(example, 0, drawn[..., 0], drawn[..., 1])
        _compare(cells, "equal", example, 0, one.equal, drawn, one, rngs)
    return cells


def _compare(
    cells: BatchCells,
    name: str,
    example: int,
    kind: int,
    pairs: Integers,
    drawn: Integers,
    one: Tokens,
    rngs: Sequence[np.random.Generator],
) -> None:
    """Draw what the pairs of an example are compared with; nothing if it has no pairs."""
    if not len(pairs):
        return
    key_rng, place_rng, form_rng = rngs
    classes = None if name == "equal" else one.features[:, _CLASSES] @ (1, 2, 4)
    six, found = [], {control: list[Drawn]() for control in (KEY, PLACE, FORM)}
    for chosen, queries, keys in _pairs_between_sentences(pairs, one):
        found[KEY].append(other_queries(chosen, queries, DRAWS, key_rng, classes))
        six.append(hexagons(chosen, queries, keys, DRAWS, key_rng))
        others = draw_at_relative_places(chosen, queries, keys, DRAWS, place_rng)
        found[PLACE].append(Drawn(chosen, others))
        found[FORM].append(other_keys(chosen, keys, one.words, one.forms, DRAWS, form_rng))
    joined = {control: Drawn.joined(parts) for control, parts in found.items()}
    # In the order of the draws: with local attention, a pair is compared with draws of its own.
    joined[DISTANCE] = Drawn(joined[PLACE].pairs, drawn)
    cells.compared[name].append(PairCells(example, kind, np.concatenate(six), joined))


def _random_pairs(pairs: Integers, one: Tokens, rng: np.random.Generator) -> Integers:
    """[draws, pairs, 2] random pairs of the same distances, between the same sentences."""
    drawn = [np.empty((DRAWS, 0, 2), dtype=np.int64)]
    for chosen, queries, keys in _pairs_between_sentences(pairs, one):
        drawn.append(pairs_at_the_same_distance(chosen, queries, DRAWS, rng, keys=keys))
    return np.concatenate(drawn, axis=1)


def _pairs_between_sentences(
    pairs: Integers, one: Tokens
) -> Iterator[tuple[Integers, Flags, Flags]]:
    """The pairs from each sentence to each, with the tokens of both, [L], that may take part."""
    sentences = one.segments[pairs]
    for query, key in np.unique(sentences, axis=0):
        queries, keys = (~one.special & (one.segments == sentence) for sentence in (query, key))
        yield pairs[(sentences == (query, key)).all(axis=1)], queries, keys


def stripes(batch: Batch) -> Mean:
    """Section 4.4: the largest mean weight over all queries of a token with a feature."""
    mean, cells = Mean(len(FEATURES), *batch.heads), batch.cells.features
    examples, _, keys = cells.flat()
    mean.add(cells, batch.columns[examples, keys], np.fmax)
    return mean


def cls_attention(batch: Batch) -> Mean:
    """Section 4.5: the largest weight from [CLS] to a token with a feature, in the last layer."""
    mean, cells = Mean(len(FEATURES), batch.heads[1]), batch.cells.features
    mean.add(cells, batch.weights(cells, batch.heads[0] - 1)[:, 0], np.fmax)
    return mean


def token_pairs(batch: Batch) -> Mean:
    """Section 4.5: the largest weight among the pairs of a relation."""
    mean, cells = Mean(len(RELATIONS), *batch.heads), batch.cells.pairs
    mean.add(cells, batch.weights(cells), np.fmax)
    return mean


def equal_words(batch: Batch) -> Mean:
    """Section 5: the mean weight between the word pieces of words that are in both sentences."""
    mean, cells = Mean(1, *batch.heads), batch.cells.equal
    mean.add(cells, batch.weights(cells), np.add)
    return mean


def head_statistics(batch: Batch) -> Mean:
    """Clark et al. (2019): shares of attention, and its entropy, see `statistics_of`."""
    mean, values = Mean(len(STATISTICS), *batch.heads), batch.statistics
    mean.sums[: values.shape[1]] += values.sum(axis=0)
    mean.sets[: values.shape[1]] += len(values)
    return mean


def statistics_of(batch: Batch) -> Floats:
    """Shares of attention, and its entropy in nats, means over the queries of a map.

    The first token has no previous token; its share for it is 0. In layers with local attention,
    the share of a feature is a mean over the queries that can reach a token with it. There, the
    greatest entropy is less, so it is added: the mean logarithm of the number of keys in reach.

    Returns:
        [example, statistic, layer, head] in the order of `STATISTICS`, of which the last is there
        with local attention only.
    """
    maps, length = batch.maps, batch.maps.shape[-1]
    diagonals = [np.diagonal(maps, offset, axis1=-2, axis2=-1) for offset in (-1, 1, 0)]
    beside = [each.sum(axis=-1, dtype=np.float64) / length for each in diagonals]
    kinds = [FEATURES.index(name) for name in SHARES if name in FEATURES]
    features = batch.features[..., kinds]
    if batch.reach is None:
        shares = np.einsum("ejk,ejlh->kelh", features, batch.columns, dtype=np.float64)
    else:
        shares = _shares_in_reach(maps, features, batch.reach)
    values = [*beside, *shares, entropy_sums(maps) / length]
    if batch.local:
        in_reach = np.full((1, length), length) if batch.reach is None else batch.reach.sum(axis=-1)
        greatest = np.log(in_reach).mean(axis=-1)[:, None]
        values.append(np.broadcast_to(greatest, values[0].shape))
    return np.stack(values, axis=1).astype(np.float64)


def _shares_in_reach(maps: Singles, features: Flags, reach: Reach) -> Floats:
    """Shares of attention, means over the queries that can reach a token with the feature.

    Args:
        maps: [example, layer, head, query, key].
        features: [example, token, feature].
        reach: [layer, query, key].

    Returns:
        [feature, example, layer, head].
    """
    received = maps.sum(axis=-2, dtype=np.float64)
    sums = np.einsum("ejf,elhj->felh", features, received)
    reached = np.einsum("lij,ejf->feli", reach.astype(np.float32), features) > 0
    queries = np.maximum(reached.sum(axis=-1), 1)  # a feature that is absent has no weight, either
    return sums / queries[..., None]


def diagonal_score(means: Mapping[str, Floats]) -> Floats:
    """[layer, head] share of attention to the token itself and its neighbours."""
    statistics = means["head_statistics"]
    return np.asarray(sum(statistics[STATISTICS.index(name)] for name in DIAGONAL))


Sums = tuple[Mean, Mean | None, Differences | None]
"""Of a measure: of the real cells, of its controls, and of the differences between both."""


@dataclass(frozen=True)
class Measure:
    """A measure of every head.

    Attributes:
        of: The function that sums the measure over a batch.
        table: Its table. After the columns that name the model, one with a vocabulary names the
            kind; ``weight`` or ``value`` has the means of `of`, ``control`` those on random cells,
            ``uniform`` those of uniform attention.
        section: Section of the paper, or another source.
        pairs: Whether it is for tasks of two sentences only.
        compared: The kind of pairs (`pairs`, `equal`) that is tested against controls, and how
            weights are reduced over pairs; None if it is not tested.
        beside: Further columns of a head, from the means of all measures, [kinds, layer, head].
    """

    of: Callable[[Batch], Mean]
    table: Table
    section: str
    pairs: bool = False
    compared: tuple[str, np.ufunc] | None = None
    beside: Mapping[str, Callable[[Mapping[str, Floats]], Floats]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of its table."""
        return self.table.name

    @property
    def columns(self) -> list[str]:
        """Columns of its table, after those that name the model."""
        return [name for name in self.table.names if name not in names(*MAPS)]

    @property
    def controlled(self) -> bool:
        """Whether it is also measured on random cells."""
        return "control" in self.table.names

    def differences(self, drawn: Batch) -> Differences | None:
        """Compare every example's pairs with their controls; None if the measure is not tested."""
        if self.compared is None:
            return None
        name, how = self.compared
        found = Differences(len(RELATIONS) if name == "pairs" else 1, *drawn.heads)
        for cells in drawn.cells.compared[name]:
            maps = drawn.half[cells.example]
            if drawn.reach is not None:
                maps = np.where(drawn.reach[:, None], maps, np.nan)
            found.add(maps, cells, how)
        return found

    def sums(self, batch: Batch, drawn: Batch, uniform: Batch) -> Sums:
        """The sums of a batch, of the same with its controls, and of the differences of both.

        Args:
            batch: Examples of equal length.
            drawn: The same, with random cells.
            uniform: The same under uniform attention, from `uniform_batch`.
        """
        real = self.of(batch)
        if self.controlled and uniform.reach is None:  # each weight is 1 / length
            real.uniform += real.sets / uniform.half.shape[-1]
        else:
            real.uniform += self.of(uniform).sums
        control = self.of(drawn) if self.controlled else None
        return real, control, self.differences(drawn)

    def rows(
        self,
        means: Mapping[str, Floats],
        real: Mean,
        control: Mean | None,
        differences: Differences | None,
    ) -> pd.DataFrame:
        """A row per head and kind that occurs in the data; ``layer`` and ``head`` count from 1.

        A head that can reach none of a kind's cells has 0 ``examples`` and the weight 0.
        """
        numbers, *places = np.indices(real.sums.shape)
        head_places = zip(("layer", "head")[-len(places) :], places, strict=True)
        columns = {name: place.ravel() + 1 for name, place in head_places}
        for column in self.table.columns:
            if column.name in self.columns and column.values:
                columns[column.name] = np.array(column.values)[numbers.ravel()]
        columns["weight" if control else "value"] = _or_zero(real)
        if control:
            columns["control"] = _or_zero(control)
        columns["uniform"] = _or_zero(real, real.uniform)
        if differences:
            columns |= {name: values.ravel() for name, values in differences.tests().items()}
        for name, score in self.beside.items():
            columns[name] = score(means)[tuple(place.ravel() for place in places)]
        found = pd.DataFrame({**columns, "examples": real.sets.ravel()})
        sets = real.sets.reshape(len(real.sets), -1).sum(axis=1)
        found = found[pd.Series(sets[numbers.ravel()] > 0)].reset_index(drop=True)
        return found[self.columns]

    def control_rows(self, real: Mean, differences: Differences) -> pd.DataFrame:
        """A row of `tables.PAIR_CONTROLS` per kind that occurs in the data, head and control."""
        numbers, kinds, layers, heads = np.indices(differences.units.shape)
        relations = RELATIONS if len(real.sets) > 1 else (EQUAL,)
        columns = {
            "relation": np.array(relations)[kinds],
            "layer": layers + 1,
            "head": heads + 1,
            "control": np.array(CONTROLS)[numbers],
            **differences.control_columns(),
        }
        # All controls of a head follow each other.
        found = {name: np.moveaxis(values, 0, -1).ravel() for name, values in columns.items()}
        occurs = real.sets.reshape(len(real.sets), -1).sum(axis=1) > 0
        rows = pd.DataFrame(found)[occurs[np.moveaxis(kinds, 0, -1).ravel()]]
        return rows.reset_index(drop=True)


def _or_zero(mean: Mean, sums: Floats | None = None) -> Floats:
    """Means of all kinds and heads, flat; 0 where there are no sets."""
    return np.nan_to_num(quotient(mean.sums if sums is None else sums, mean.sets)).ravel()


#: All measures. To add one: a function of a `Batch`, a table, and an entry here.
MEASURES = {
    entry.name: entry
    for entry in (
        Measure(stripes, tables.STRIPES, "4.4"),
        Measure(cls_attention, tables.CLS_ATTENTION, "4.5"),
        Measure(
            token_pairs,
            tables.TOKEN_PAIRS,
            "4.5",
            compared=("pairs", np.fmax),
            beside={"diagonal": diagonal_score},
        ),
        Measure(head_statistics, tables.HEAD_STATISTICS, "Clark et al. (2019)"),
        Measure(equal_words, tables.EQUAL_WORDS, "5", pairs=True, compared=("equal", np.add)),
    )
}


TABLES = {name: entry.table for name, entry in MEASURES.items()}
"""What is written of every model: a table of each measure, and the controls of pairs."""
TABLES[tables.PAIR_CONTROLS.name] = tables.PAIR_CONTROLS


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
            first to count how often a feature occurs in each part of an example.
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
    chances = feature_chances(tokens)
    for some, batch in batches(maps, tokens, max_bytes):
        idx = [one.idx for one in some]
        drawn = replace(batch, cells=control_cells(some, chances, seed))
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
    controls = [
        entry.control_rows(own[name][0], own[name][2])
        for name, entry in MEASURES.items()
        if entry.compared
    ]
    found[tables.PAIR_CONTROLS.name] = pd.concat(controls, ignore_index=True)
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


def batches(
    maps: Maps, tokens: Iterable[Tokens], max_bytes: int = 2**22
) -> Iterator[tuple[list[Tokens], Batch]]:
    """The tokens of some examples, and what measures need of them, batch by batch.

    Args:
        maps: Maps of a model.
        tokens: The tokens of each example, in the order of the maps.
        max_bytes: Largest size of a batch of maps.
    """
    in_turn = iter(tokens)
    for examples, half in maps.batches(max_bytes):
        some = list(itertools.islice(in_turn, len(examples)))
        yield some, _batch(maps, half, some)


def _batch(source: Maps, half: Halves, tokens: Sequence[Tokens]) -> Batch:
    maps, reach = half.astype(np.float32), source.reach(half.shape[-1])
    return Batch(
        half=half,
        maps=maps,
        columns=column_means(maps, reach),
        features=np.stack([one.features for one in tokens]),
        cells=real_cells(tokens),
        local=any_window(source.windows),
        reach=reach,
    )


def uniform_batch(batch: Batch) -> Batch:
    """The same examples under uniform attention to the tokens in reach.

    Heads are alike, so there is one; and one layer, unless layers differ in their reach.
    """
    examples, length = len(batch.half), batch.half.shape[-1]
    reach = np.ones((1, length, length), np.bool_) if batch.reach is None else batch.reach
    rows = (reach / reach.sum(axis=-1, keepdims=True)).astype(np.float32)
    maps = np.broadcast_to(rows[:, None], (examples, len(reach), 1, length, length))
    columns = column_means(maps, batch.reach)
    return replace(batch, half=maps, maps=maps, columns=columns)  # type: ignore[arg-type]


def token_measures(batch: Batch) -> Values:
    """The measures of `profiles.CONTROLLED` of every example, of the batch's cells."""
    cells, size = batch.cells.features, (len(batch.half), len(FEATURES))
    examples, _, keys = cells.flat()
    stripe = greatest_by_example(cells, batch.columns[examples, keys], *size)
    from_cls = greatest_by_example(cells, batch.weights(cells, batch.heads[0] - 1), *size)
    return {GREATEST: stripe, FROM_CLS: from_cls}
