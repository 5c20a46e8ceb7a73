"""Cells of maps: tokens with a feature, related pairs, equal words, and random ones beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from darksecrets.core.arrays import Flags, Floats, Integers, Reals
from darksecrets.core.stats.controls import pairs_at_the_same_distance, tokens_at_likely_places
from darksecrets.paper.features.labels import FEATURES
from darksecrets.paper.features.pairs import (
    Additive,
    Drawn,
    PairCells,
    PairsElsewhere,
    draw_at_relative_places,
    hexagons,
    other_queries,
    words_alike,
    words_that_compare_alike,
)
from darksecrets.paper.features.profiles import quotient
from darksecrets.paper.features.tables import FIRST_LETTER, FORM, KEY, LAST_LETTER, PLACE
from darksecrets.paper.features.tokens import COMPARED, FINAL, INITIAL, Tokens

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

    ARRAYS = ("sums", "uniform", "sets")

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


@dataclass
class Survey:
    """What controls need to know of all examples of a task.

    Attributes:
        having: [features, places] number of tokens with each feature in each part of an example.
        ordinary: [places] number of ordinary tokens in each part.
        pairs: For each relation, number of the sentence and of its words: the pairs of such
            sentences, counted from the sentence's first token, by ``idx`` of the example.
    """

    having: Floats = field(default_factory=lambda: np.zeros((len(FEATURES), PLACES)))
    ordinary: Floats = field(default_factory=lambda: np.zeros(PLACES))
    pairs: dict[tuple[int, int, int], dict[int, Integers]] = field(default_factory=dict)

    @classmethod
    def of(cls, tokens: Iterable[Tokens]) -> Survey:
        """Survey the examples of a task."""
        found = cls()
        for one in tokens:
            found.add(one)
        return found

    def add(self, one: Tokens) -> None:
        """Add an example."""
        places = places_of(one.special)
        for feature, has in enumerate(one.features.T):
            self.having[feature] += np.bincount(places[has], minlength=PLACES)
        self.ordinary += np.bincount(places[~one.special], minlength=PLACES)
        for relation, pairs in enumerate(one.pairs):
            for chosen, words in _pairs_of_sentences(pairs, one):
                key = (relation, int(one.segments[words[0]]), len(words))
                self.pairs.setdefault(key, {})[one.idx] = chosen - words[0]

    @property
    def chances(self) -> Floats:
        """[features, places] number of tokens with the feature per ordinary token."""
        return self.having / np.maximum(self.ordinary, 1)

    def elsewhere(self, one: Tokens, relation: int) -> list[PairsElsewhere]:
        """For each sentence of an example, the pairs of the next sentences with as many words.

        Every sentence is the next one of as many as it has next ones. So a head that attends by
        place has, over all of them, as much weight at the places of others' pairs as at their own.
        """
        found = []
        for chosen, words in _pairs_of_sentences(one.pairs[relation], one):
            alike = self.pairs[relation, int(one.segments[words[0]]), len(words)]
            examples = list(alike)
            at = examples.index(one.idx)
            following = [*examples[at + 1 :], *examples[:at]][:DRAWS]
            if following:
                others = [alike[idx] + words[0] for idx in following]
                sizes = np.array([len(pairs) for pairs in others])
                cells = PairsElsewhere(chosen, np.concatenate(others), np.cumsum(sizes) - sizes)
                found.append(cells)
        return found


def _pairs_of_sentences(pairs: Integers, one: Tokens) -> Iterator[tuple[Integers, Integers]]:
    """The pairs within each sentence that has some, and the positions of its words."""
    for sentence in np.unique(one.segments[pairs]):
        inside = (one.segments[pairs] == sentence).all(axis=1)
        if inside.any():
            yield pairs[inside], np.flatnonzero(~one.special & (one.segments == sentence))


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


def control_cells(batch: Sequence[Tokens], survey: Survey, seed: int) -> BatchCells:
    """Cells of random tokens and pairs, `DRAWS` sets for every real set."""
    cells, chances = BatchCells(), survey.chances
    first = np.zeros(1, dtype=np.int64)
    for example, one in enumerate(batch):
        rng = np.random.default_rng([seed, one.idx])
        likely = np.where(one.special, 0, np.maximum(chances[:, places_of(one.special)], _LEAST))
        for feature, count in enumerate(one.features.sum(axis=0).tolist()):
            if count:
                drawn = tokens_at_likely_places(count, likely[feature], DRAWS, rng)
                cells.features.add(example, feature, first, drawn)
        rngs = dict(zip((KEY, PLACE, FORM), _generators(seed, one.idx), strict=True))
        for relation, pairs in enumerate(one.pairs):
            drawn = _random_pairs(pairs, one, rng)
            cells.pairs.add(example, relation, drawn[..., 0], drawn[..., 1])
            if len(pairs):
                elsewhere = survey.elsewhere(one, relation)
                compared = _related_cells(example, relation, one, elsewhere, rngs)
                cells.compared["pairs"].append(compared)
        drawn = _random_pairs(one.equal, one, rng)
        cells.equal.add(example, 0, drawn[..., 0], drawn[..., 1])
        if len(one.equal):
            cells.compared["equal"].append(_equal_cells(example, one, rngs))
    return cells


def _generators(seed: int, idx: int) -> list[np.random.Generator]:
    """A source of randomness for each control of an example."""
    return [np.random.default_rng([seed, idx, number]) for number in (1, 2, 3)]


def _related_cells(
    example: int,
    relation: int,
    one: Tokens,
    elsewhere: Sequence[PairsElsewhere],
    rngs: Mapping[str, np.random.Generator],
) -> PairCells:
    """What the related pairs of an example are compared with."""
    classes = one.features[:, _CLASSES] @ (1, 2, 4)
    six, found = [], {control: list[Drawn]() for control in (KEY, FORM)}
    for chosen, queries, keys in _pairs_between_sentences(one.pairs[relation], one):
        found[KEY].append(other_queries(chosen, queries, DRAWS, rngs[KEY], classes))
        six.append(hexagons(chosen, queries, keys, DRAWS, rngs[KEY]))
        forms = one.forms[:, COMPARED]
        found[FORM].append(words_that_compare_alike(chosen, queries, forms, DRAWS, rngs[FORM]))
    joined = {control: Drawn.joined(parts) for control, parts in found.items()}
    return PairCells(example, relation, np.concatenate(six), joined, elsewhere)


def _equal_cells(example: int, one: Tokens, rngs: Mapping[str, np.random.Generator]) -> PairCells:
    """What the equal words of an example are compared with."""
    same = {FORM: COMPARED, FIRST_LETTER: INITIAL, LAST_LETTER: FINAL}
    six, found = [], {control: list[Drawn]() for control in (KEY, PLACE, *same)}
    for chosen, queries, keys in _pairs_between_sentences(one.equal, one):
        found[KEY].append(other_queries(chosen, queries, DRAWS, rngs[KEY]))
        six.append(hexagons(chosen, queries, keys, DRAWS, rngs[KEY]))
        others = draw_at_relative_places(chosen, queries, keys, DRAWS, rngs[PLACE])
        found[PLACE].append(Drawn(chosen, others))
        for control, properties in same.items():
            forms = one.forms[:, properties]
            alike = words_alike(chosen, keys, one.words, forms, DRAWS, rngs[FORM])
            found[control].append(alike)
    joined = {control: Drawn.joined(parts) for control, parts in found.items()}
    return PairCells(example, 0, np.concatenate(six), joined)


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
