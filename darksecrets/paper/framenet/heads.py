"""How much each head attends along frame-semantic links, and against chance (section 4.2).

A head's weight is the greatest attention over the annotated pairs of word pieces of a sentence,
averaged over sentences. Beyond the paper, a head must exceed six controls.

- *distance*: each link is moved as a whole to other positions in its sentence. A head that attends
  to some distance gives the moved links as much.
- *key*: the word attended to stays, and other words between the two attend to it. A head that
  attends to this word from anywhere (a vertical stripe), or as the nearest or farthest of a class
  of words, gives it as much from these.
- *place*: the places of the links of all other sentences with as many tokens. A head that attends
  by place, such as to the farthest word, gives these as much.
- *sum*: a linked pair has the weight that three effects add up to: of the attending word, of the
  word attended to, and of the distance. A head that mixes a stripe with some distances may exceed
  the first two controls, but not this one.
- *product*: a linked pair has the product of such effects. A head that attends to a class of words
  within some distance may exceed the other controls, but not this one.
- *query*: the attending word stays, and attends to other words on the same side, with as many words
  in between as links have at least. A head that lets short words attend far to the right and long
  ones far to the left adds up two products, but gives these as much.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Flags, Floats, Integers, Reals
from darksecrets.core.attention.store import Maps as Source
from darksecrets.core.data.alignment import tokens_of_span
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.additive import additive_contrasts
from darksecrets.core.stats.contrasts import excess_over_product, hexagons
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.paired import (
    intersection_union,
    mean_intervals,
    nanmean,
    sign_flips,
)
from darksecrets.core.stats.percentiles import exceeds_percentile
from darksecrets.core.stats.units import numbered
from darksecrets.paper.framenet.links import LEAST_BETWEEN, Annotation
from darksecrets.paper.framenet.tables import (
    CONTROLS,
    CONTROLS_OF_HEADS,
    DIRECTIONS,
    DISTANCE,
    HEADS,
    KEY,
    PLACE,
    PRODUCT,
    QUERY,
    SUM,
)

Maps = Reals
Positions = Integers
Link = tuple[Positions, Positions]
"""Positions of the word pieces of an element, and of its predicate."""

ROUNDING = float(np.finfo(np.float16).eps)
"""Maps are stored in half precision: a sentence's difference up to this size counts as none."""

_BATCH_BYTES = 2**24
_MEASURED = ("linked", "moved", "unlinked", "places", "others", "excess", "excess_product")


def links_in(source: Source, example: int, annotation: Annotation) -> list[Link]:
    """Word pieces of every link of a sentence.

    Args:
        source: Maps of the sentences.
        example: Number of the sentence among them.
        annotation: Its annotation.

    Raises:
        InputError: A linked word has no word pieces: the tokenizer made none, or the sentence was
            cut before it.
    """
    layout = (source.offsets(example), source.segments(example), source.special(example))
    predicate = tokens_of_span(*layout, 0, *annotation.predicate)
    elements = [tokens_of_span(*layout, 0, *element.span) for element in annotation.elements]
    if not all(len(tokens) for tokens in (predicate, *elements)):
        raise InputError(
            f"{annotation.sentence!r}: a linked word has no word piece among "
            f"{source.spaced_tokens(example)}; expected at least one. If the sentence was cut, "
            "raise fine_tuning.max_length."
        )
    return [(element, predicate) for element in elements]


@dataclass(frozen=True)
class LinksByLength:
    """The links of all sentences with some number of tokens.

    Attributes:
        cells: [cells, 2] linked word pieces of an element and of its predicate.
        first: [sentences] the first cell of each.
    """

    cells: Integers
    first: Integers

    @classmethod
    def of(cls, every: Sequence[Sequence[Link]]) -> LinksByLength:
        """Join the links of sentences."""
        cells = [[(i, j) for e, p in links for i in e for j in p] for links in every]
        sizes = np.array([len(own) for own in cells])
        return cls(np.array(list(itertools.chain(*cells))), np.cumsum(sizes) - sizes)


@dataclass(frozen=True)
class Sentence:
    """The maps of a sentence, and its links.

    Attributes:
        maps: [layer, head, query, key].
        links: From `links_in`.
        usable: [L] which tokens are words; they are adjacent.
        elements: The words of its elements. What a head does to a word, such as "he", it may do in
            all sentences with it, so these are not independent. None: unlike all others.
        predicate: The same of its predicate.
        idx: Its position among the annotations.
        alike: The links of all sentences with as many tokens, this one's among them.
    """

    maps: Maps
    links: Sequence[Link]
    usable: Flags
    elements: str | None = None
    predicate: str | None = None
    idx: int = 0
    alike: LinksByLength | None = None

    def free(self) -> Flags:
        """[L] which tokens are words of no link."""
        free = self.usable.copy()
        free[np.concatenate([tokens for link in self.links for tokens in link])] = False
        return free


@dataclass(frozen=True)
class Linked(Iterable[Sentence]):
    """Sentences with their maps and links, read batch by batch, the longest first.

    Sentences that are longer than local attention reaches are left out: there, links and the other
    places that they are compared with would not all be in reach.

    Attributes:
        source: Maps; ``idx`` is the position in ``annotations``.
        annotations: The links.
    """

    source: Source
    annotations: Sequence[Annotation]

    def __iter__(self) -> Iterator[Sentence]:
        """Sentences with their maps and links.

        Raises:
            InputError: See `links_in`; or all sentences are left out.
        """
        if not self.measured():
            raise InputError(
                f"{self.source.origin}: its {len(self.annotations)} sentences have "
                f"{int(self.source.lengths.min())} tokens or more, longer than the local attention "
                f"of the model reaches (windows {list(self.source.windows)}). Use shorter "
                "sentences, or a model whose windows are larger."
            )
        alike = self._alike()
        for examples, batch in self.source.batches(_BATCH_BYTES):
            if self.source.reach(batch.shape[-1]) is None:
                for example, maps in zip(examples, batch, strict=True):
                    yield replace(self._sentence(example, maps), alike=alike[batch.shape[-1]])

    def _alike(self) -> dict[int, LinksByLength]:
        """The links of all sentences that are measured, by their number of tokens."""
        found: dict[int, list[list[Link]]] = {}
        for example, length in enumerate(self.source.lengths.tolist()):
            if self.source.reach(length) is None:
                annotation = self.annotations[int(self.source.idx[example])]
                found.setdefault(length, []).append(links_in(self.source, example, annotation))
        return {length: LinksByLength.of(links) for length, links in found.items()}

    def measured(self) -> list[int]:
        """Positions in ``annotations`` of the sentences that are not left out."""
        both = zip(self.source.idx.tolist(), self.source.lengths.tolist(), strict=True)
        return sorted(idx for idx, tokens in both if self.source.reach(tokens) is None)

    def sentence(self, idx: int) -> Sentence:
        """Read one sentence, by its position in ``annotations``."""
        (example,) = np.flatnonzero(self.source.idx == idx).tolist()
        return self._sentence(example, self.source.maps(example))

    def _sentence(self, example: int, maps: Maps) -> Sentence:
        """An example of the maps, with its links."""
        idx = int(self.source.idx[example])
        annotation = self.annotations[idx]
        links = links_in(self.source, example, annotation)
        words = [annotation.sentence[slice(*element.span)] for element in annotation.elements]
        predicate = annotation.sentence[slice(*annotation.predicate)]
        return Sentence(
            maps,
            links,
            usable=~self.source.special(example),
            elements=" ".join(words).lower(),
            predicate=predicate.lower(),
            idx=idx,
        )


def greatest(maps: Maps, queries: Positions, keys: Positions) -> Floats:
    """Greatest weight of every block of a map.

    Args:
        maps: [layer, head, query, key].
        queries: [query places, tokens] the tokens that attend, in several places.
        keys: [key places, tokens] those attended to.

    Returns:
        [layer, head, query places, key places].
    """
    blocks = maps[:, :, queries[:, None, :, None], keys[None, :, None, :]]
    return blocks.max(axis=(-2, -1)).astype(np.float64)


def elsewhere(tokens: Positions, free: Flags) -> Positions:
    """[places, tokens] all places where as many adjacent tokens are free, from left to right."""
    places = tokens - tokens[0] + np.arange(len(free))[:, None]
    places = places[places[:, -1] < len(free)]
    return places[free[places].all(axis=1)]


def places_between(places: Positions, query: Positions, key: Positions) -> Positions:
    """The places on the side of the key where the query is, and not farther from it.

    Args:
        places: [places, tokens].
        query: The attending tokens.
        key: Those attended to.
    """
    if query[0] < key[0]:
        return places[(places[:, 0] > query[0]) & (places[:, -1] < key[0])]
    return places[(places[:, 0] > key[-1]) & (places[:, -1] < query[-1])]


def places_beyond(places: Positions, query: Positions, key: Positions) -> Positions:
    """The places on the side of the query where the key is, as far from it as links are at least.

    Args:
        places: [places, tokens].
        query: The attending tokens.
        key: Those attended to.
    """
    if query[0] < key[0]:
        return places[places[:, 0] - query[-1] > LEAST_BETWEEN]
    return places[query[0] - places[:, -1] > LEAST_BETWEEN]


def mean_of_greatest(values: Sequence[Floats]) -> Floats:
    """Expected maximum of one random value from each set: its mean over all combinations.

    It is exact: the share of combinations whose maximum is at most t is the product, over sets, of
    the share of values that are at most t.

    Args:
        values: For every set, [..., values].

    Returns:
        [...] the means.
    """
    ordered = np.sort(np.concatenate(values, axis=-1), axis=-1)
    below = np.prod(
        [(of[..., None, :] <= ordered[..., None]).mean(axis=-1) for of in values], axis=0
    )
    share = np.diff(below, axis=-1, prepend=0)
    return (ordered * share).sum(axis=-1)


def _directed(links: Sequence[Link], direction: int) -> list[tuple[Positions, Positions]]:
    """Queries and keys of every link; `DIRECTIONS` has the directions."""
    return [link[::-1] if direction else link for link in links]


def along(sentence: Sentence, direction: int) -> Floats:
    """[layer, head] greatest weight of a linked pair."""
    pairs = _directed(sentence.links, direction)
    values = [greatest(sentence.maps, query[None], key[None])[..., 0, 0] for query, key in pairs]
    return np.max(values, axis=0)


def moved(sentence: Sentence, direction: int) -> Floats:
    """Control for the distance: the links at other positions, with all of their distances kept.

    Every link is moved as a whole to each position in the sentence where it fits, including its
    own, independently of the others. As for the links, the greatest weight in the sentence counts.

    Returns:
        [layer, head] mean over all combinations of positions.
    """
    values = []
    for query, key in _directed(sentence.links, direction):
        both = np.concatenate([query, key])
        shifts = np.arange(-both.min(), len(sentence.usable) - both.max())
        ends = np.stack([both.min() + shifts, both.max() + shifts])
        shifts = shifts[sentence.usable[ends].all(axis=0)]  # then all tokens in between are, too
        blocks = [greatest(sentence.maps, query[None] + s, key[None] + s)[..., 0] for s in shifts]
        values.append(np.concatenate(blocks, axis=-1))
    return mean_of_greatest(values)


def unlinked(sentence: Sentence, direction: int) -> Floats:
    """Control for the key: the same words are attended to, but by words of no link in between.

    The attending word of every link is moved to each place between both words where it shares no
    word with any link, independently of the others. As for the links, the greatest weight in the
    sentence counts.

    Returns:
        [layer, head] mean over all combinations of places; NaN if a link has no such place.
    """
    values, free = [], sentence.free()
    for query, key in _directed(sentence.links, direction):
        places = places_between(elsewhere(query, free), query, key)
        if not len(places):
            return np.full(sentence.maps.shape[:2], np.nan)
        values.append(greatest(sentence.maps, places, key[None])[..., 0])
    return mean_of_greatest(values)


def other_words(sentence: Sentence, direction: int) -> Floats:
    """Control for the query: the same words attend, but to words of no link on the same side.

    The word attended to of every link is moved to each place on its side of the attending one where
    it shares no word with any link and is not too near for a link, independently of the others. As
    for the links, the greatest weight in the sentence counts.

    Returns:
        [layer, head] mean over all combinations of places; NaN if a link has no such place.
    """
    values, free = [], sentence.free()
    for query, key in _directed(sentence.links, direction):
        places = places_beyond(elsewhere(key, free), query, key)
        if not len(places):
            return np.full(sentence.maps.shape[:2], np.nan)
        values.append(greatest(sentence.maps, query[None], places)[..., 0, :])
    return mean_of_greatest(values)


def links_of_others(sentence: Sentence, direction: int) -> Floats:
    """Control for the place: the links of the other sentences with as many tokens, in this one.

    Added up over sentences, a map that follows from places alone has as much there as at the links.

    Returns:
        [layer, head] greatest weight at the links of a sentence, mean over the others; NaN if there
        are none.
    """
    if sentence.alike is None or len(sentence.alike.first) < 2:
        return np.full(sentence.maps.shape[:2], np.nan)
    query, key = sentence.alike.cells.T[::-1] if direction else sentence.alike.cells.T
    cells = sentence.maps[:, :, query, key]
    greatest_of_each = np.maximum.reduceat(cells, sentence.alike.first, axis=-1)
    whole = greatest_of_each.sum(axis=-1, dtype=np.float64)
    others: Floats = (whole - along(sentence, direction)) / (len(sentence.alike.first) - 1)
    return others


def excess(sentence: Sentence) -> Floats:
    """Additive control: how far the linked pairs exceed the sum of three effects.

    The effects of the attending word, of the word attended to and of the distance are fitted to the
    other pairs of words of the same map, and predict the weight of the linked pairs.

    Returns:
        [direction, layer, head] weight minus prediction, mean over the linked pairs of word pieces
        that the others determine; NaN if there are none.
    """
    words = np.flatnonzero(sentence.usable)
    pairs = np.zeros((len(DIRECTIONS), *sentence.maps.shape[-2:]), dtype=np.bool_)
    for element, predicate in sentence.links:
        pairs[0][np.ix_(element, predicate)] = pairs[1][np.ix_(predicate, element)] = True
    others = ~pairs.any(axis=0)
    others &= sentence.usable & sentence.usable[:, None]
    cells, first = np.argwhere(others), words[0]
    values = []
    for targets in map(np.argwhere, pairs):
        weights, determined = additive_contrasts(cells - first, targets - first)
        known, own = (sentence.maps[:, :, q, k].astype(np.float64) for q, k in (cells.T, targets.T))
        left = (own - known @ weights.T)[..., determined]
        missing = np.full(left.shape[:2], np.nan)
        values.append(left.mean(axis=-1) if determined.any() else missing)
    return np.stack(values)


def excess_product(sentence: Sentence) -> Floats:
    """Multiplicative control: how far the linked pairs exceed the product of three effects.

    Around every linked pair are sets of six pairs of words in which these effects cancel, see
    `darksecrets.core.stats.contrasts`; the other five are not linked in either direction.

    Returns:
        [direction, layer, head] mean over the sets around a linked pair of word pieces, then over
        these pairs; NaN if none has such a set.
    """
    linked = [
        {(i, j) for q, k in _directed(sentence.links, d) for i in q.tolist() for j in k.tolist()}
        for d in range(len(DIRECTIONS))
    ]
    related = np.zeros(sentence.maps.shape[-2:], dtype=np.bool_)
    for pair in itertools.chain(*linked):
        related[pair] = True
    values = np.full((len(DIRECTIONS), *sentence.maps.shape[:2]), np.nan)
    for direction, pairs in enumerate(linked):
        found = [hexagons(pair, sentence.usable, sentence.usable, related) for pair in pairs]
        six = [sentence.maps[:, :, *np.moveaxis(of, -1, 0)] for of in found if len(of)]
        if six:
            means = [excess_over_product(one.astype(np.float64)).mean(axis=-1) for one in six]
            values[direction] = np.mean(means, axis=0)
    return values


@dataclass(frozen=True)
class Weights:
    """Weights of every head in every sentence; most are [sentence, direction, layer, head].

    Attributes:
        linked: From `along`.
        moved: From `moved`.
        unlinked: From `unlinked`.
        places: From `links_of_others`.
        others: From `other_words`.
        excess: From `excess`.
        excess_product: From `excess_product`.
        uniform: [sentence] the weight of every pair under uniform attention, 1 / length.
        elements: [sentence] number of the group: sentences with the same elements.
        predicates: [sentence] number of the group: sentences with the same predicate.
    """

    linked: Floats
    moved: Floats
    unlinked: Floats
    places: Floats
    others: Floats
    excess: Floats
    excess_product: Floats
    uniform: Floats
    elements: Positions
    predicates: Positions

    def of(self, heads: slice) -> Weights:
        """The weights of some heads, of all layers."""
        return replace(self, **{name: getattr(self, name)[..., heads] for name in _MEASURED})


def measure(sentences: Iterable[Sentence]) -> Weights:
    """Measure the links and their controls; memory holds the maps of one batch at a time.

    Sentences are put into the order of their ``idx``, whatever the order in which they come.
    """
    values: list[Floats] = []
    idx: list[int] = []
    lengths: list[int] = []
    elements: list[str | None] = []
    predicates: list[str | None] = []
    for sentence in sentences:
        idx.append(sentence.idx)
        lengths.append(sentence.maps.shape[-1])
        elements.append(sentence.elements)
        predicates.append(sentence.predicate)
        functions = (along, moved, unlinked, links_of_others, other_words)
        by_direction = [[f(sentence, d) for d in range(len(DIRECTIONS))] for f in functions]
        values.append(np.stack([*by_direction, excess(sentence), excess_product(sentence)]))
    order = np.argsort(idx, kind="stable")
    measured = dict(zip(_MEASURED, np.stack(values, axis=1)[:, order], strict=True))
    return Weights(
        **measured,
        uniform=1 / np.array(lengths)[order],
        elements=_groups([elements[number] for number in order]),
        predicates=_groups([predicates[number] for number in order]),
    )


def _groups(words: Sequence[str | None]) -> Positions:
    """[sentences] number of the group of each: those with the same words; each is one if None."""
    return numbered(number if own is None else own for number, own in enumerate(words))


def heads_table(weights: Weights, draws: int, seed: int) -> pd.DataFrame:
    """The first of `tables` alone, for models whose controls nobody asks for.

    Args:
        weights: From `measure`.
        draws: Random sign changes.
        seed: Their seed.

    Returns:
        `HEADS`, without the model.
    """
    p, family = _tests(weights, _differences(weights), draws, _streams(seed))
    return HEADS.select(_flat(_heads(weights, intersection_union(p), intersection_union(family))))


def tables(weights: Weights, draws: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tidy tables of a model's heads (Figure 3): the heads, and each of their controls.

    Each control has a paired one-sided test over the sentences, by random sign changes that
    sentences with the same elements share; and another, that those with the same predicate share.
    The larger p-value counts, and the wider interval. A head's p-value is the largest of its six;
    it is corrected over all heads and both directions.

    Args:
        weights: From `measure`.
        draws: Random sign changes, and bootstrap samples of the intervals.
        seed: Seed of both.

    Returns:
        `HEADS` and `CONTROLS_OF_HEADS`, without the model.
    """
    streams = _streams(seed)
    differences = _differences(weights)
    p, family = _tests(weights, differences, draws, streams)
    heads = _heads(weights, intersection_union(p), intersection_union(family))
    values = _values(weights)
    missing = np.full(heads["weight"].shape, np.nan)
    parts = []
    for (name, difference), own in zip(differences.items(), p, strict=True):
        ends = [
            mean_intervals(difference, draws, rng, groups=groups)
            for rng, groups in zip(streams, _groupings(weights), strict=True)
        ]
        low, high = np.fmin(ends[0][0], ends[1][0]), np.fmax(ends[0][1], ends[1][1])
        columns = {
            "direction": heads["direction"],
            "layer": heads["layer"],
            "head": heads["head"],
            "control": np.full(own.shape, name),
            "sentences": (~np.isnan(difference)).sum(axis=0),
            "value": nanmean(values[name], axis=0) if name in values else missing,
            "difference": nanmean(difference, axis=0),
            "difference_low": low,
            "difference_high": high,
            "p_value": own,
        }
        parts.append(_flat(columns))
    return HEADS.select(_flat(heads)), CONTROLS_OF_HEADS.select(pd.concat(parts))


def _streams(seed: int) -> list[np.random.Generator]:
    """Sources of randomness, one for each of `_groupings`."""
    return [np.random.default_rng(seed), np.random.default_rng([seed, 1])]


def _groupings(weights: Weights) -> tuple[Positions, Positions]:
    """[sentences] numbers of groups that depend on each other, by what they have in common."""
    return weights.elements, weights.predicates


def _values(weights: Weights) -> dict[str, Floats]:
    """What the controls that are weights of other pairs have, by control."""
    return {
        DISTANCE: weights.moved,
        KEY: weights.unlinked,
        PLACE: weights.places,
        QUERY: weights.others,
    }


def _differences(weights: Weights) -> dict[str, Floats]:
    """How far the linked pairs exceed each control, in the order of `CONTROLS`."""
    found = {name: weights.linked - value for name, value in _values(weights).items()}
    found |= {SUM: weights.excess, PRODUCT: weights.excess_product}
    return {name: found[name] for name in CONTROLS}


def _tests(
    weights: Weights,
    differences: Mapping[str, Floats],
    draws: int,
    streams: Sequence[np.random.Generator],
) -> tuple[Floats, Floats]:
    """[control, direction, layer, head] p-values, and the same corrected over all of these."""
    together = np.stack(list(differences.values()), axis=1)
    tests = [
        sign_flips(together, draws, rng, zero=ROUNDING, groups=groups)
        for rng, groups in zip(streams, _groupings(weights), strict=True)
    ]
    return np.maximum(*(test.p for test in tests)), np.maximum(*(test.family for test in tests))


def _heads(weights: Weights, p: Floats, family: Floats) -> dict[str, Any]:
    """[direction, layer, head] every column of `HEADS` but those of the model.

    Args:
        weights: From `measure`.
        p: [direction, layer, head] p-values of exceeding all controls.
        family: The same, corrected over all of these.
    """
    direction, layer, head = np.indices(p.shape)
    own = weights.linked.mean(axis=0)
    return {
        "direction": np.array(DIRECTIONS)[direction],
        "layer": layer + 1,
        "head": head + 1,
        "weight": own,
        "sentences": np.full(p.shape, len(weights.linked)),
        "elements": np.full(p.shape, len(np.unique(weights.elements))),
        "above_percentile": np.stack([exceeds_percentile(heads) for heads in own]),
        "control": weights.moved.mean(axis=0),
        "uniform": np.full(p.shape, weights.uniform.mean()),
        "p_value": p,
        "q_value": benjamini_hochberg(p),
        "p_family": family,
        "exceeds_controls": family < LEVEL,
    }


def _flat(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A row per direction and head."""
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()})
