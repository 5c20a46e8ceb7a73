"""Do heads attend to related tokens more than controls (sections 4.5 and 5)?

A head that attends to all nouns attends from pronouns to their nouns, too, and more than to random
tokens. So pairs have five controls:

- *place*: the pairs of other sentences with as many words, at their places in this sentence. A head
  that attends by place, or at some distance, gives these as much.
- *key*: the same tokens are attended to, but by other tokens of the sentence. In a sentence, as
  many words of the key's class are in between: a head that attends to the nearest or farthest noun
  gives it as much from these.
- *sum*: a contrast of six cells of the map, in which effects of the attending token, of the token
  attended to and of the distance cancel exactly, even in a head that adds them.
- *product*: a contrast of the same cells, in which products of these effects cancel: pronouns that
  attend to all tokens to their left, for example.
- *form*: the same tokens attend to other words on the same side, which are likewise longer or
  shorter than they are, and likewise more or less frequent. A head that compares words, such as
  with all longer ones, gives these as much.

Equal words are in two sentences, and alike in form. Their *place* is relative: random pairs whose
tokens are as far from the same relative place in their sentences. *Form* is that of the words: the
same tokens attend to other words of their length and frequency. *First letter* and *last letter*
are other words that begin, or end, alike. A head may still attend to words by another part of their
form: no control of a text tells it from one that attends to equal words.

The page `benchmarks/results/ignorant_heads.md` has heads that know nothing of relations and pass
them all.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from darksecrets.core.arrays import Flags, Floats, Integers, Reals
from darksecrets.core.stats import contrasts
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.paired import intersection_union, nanmean, student
from darksecrets.paper.features.tables import PLACE, PRODUCT, SUM

ROUNDING = float(np.finfo(np.float16).eps)
"""Maps are in half precision: differences up to this share of their terms count as 0."""


@dataclass(frozen=True)
class Drawn:
    """Pairs, and random ones to compare them with.

    Attributes:
        pairs: [pairs, 2] query and key positions; those that have others to compare with.
        others: [draws, pairs, 2].
    """

    pairs: Integers
    others: Integers

    @classmethod
    def of(cls, pairs: Integers, drawn: list[Integers], draws: int) -> Self:
        """From [draws, 2] for each pair."""
        return cls(pairs, np.array(drawn, np.int64).reshape(-1, draws, 2).swapaxes(0, 1))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several together."""
        pairs, others = ([getattr(one, name) for one in parts] for name in ("pairs", "others"))
        return cls(np.concatenate(pairs), np.concatenate(others, axis=1))


def other_queries(
    pairs: Integers,
    usable: Flags,
    draws: int,
    rng: np.random.Generator,
    classes: Integers | None = None,
) -> Drawn:
    """Let random other tokens attend to the same keys.

    Args:
        pairs: [pairs, 2] query and key positions of a relation.
        usable: [L] tokens that may attend; the queries and the key of a pair are never drawn.
        draws: Number of draws per pair.
        rng: Source of randomness.
        classes: [L] class of each token. Tokens are drawn from which the key is, on the side where
            it is, the same of its class: the nearest noun, for example. None: any.
    """
    free = usable.copy()
    free[pairs[:, 0]] = False
    places, kept, drawn = np.arange(len(usable)), [], []
    for number, (query, key) in enumerate(pairs.tolist()):
        fits = free & (places != key)
        if classes is not None:
            rank = _ranks(classes, key)
            fits &= rank == rank[query]
        if fits.any():
            queries = rng.choice(np.flatnonzero(fits), draws)
            kept.append(number)
            drawn.append(np.stack([queries, np.full(draws, key)], axis=1))
    return Drawn.of(pairs[kept], drawn, draws)


def _ranks(classes: Integers, key: int) -> Integers:
    """[L] which word of its class the key is, seen from each token; negative to its right."""
    own = classes == classes[key]
    number, places = np.cumsum(own), np.arange(len(classes))
    to_the_left = number - own - number[key] + 1
    return np.where(places < key, number[key] - number, -to_the_left)


def words_alike(
    pairs: Integers,
    keys: Flags,
    words: Integers,
    forms: Integers,
    draws: int,
    rng: np.random.Generator,
) -> Drawn:
    """Let the same tokens attend to other words of the same form as the key.

    Args:
        pairs: [pairs, 2] query and key positions of equal words.
        keys: [L] tokens that may be attended to.
        words: [L] number of the word of each token; those of equal words are the same.
        forms: [L, properties] what must be the same, such as length and frequency.
        draws: Number of draws per pair.
        rng: Source of randomness.
    """
    fits = [
        keys & (words != words[key]) & (forms == forms[key]).all(axis=1)
        for key in pairs[:, 1].tolist()
    ]
    return _draw_keys(pairs, fits, draws, rng)


def words_that_compare_alike(
    pairs: Integers, usable: Flags, forms: Integers, draws: int, rng: np.random.Generator
) -> Drawn:
    """Let the same tokens attend to other words on the same side that differ in the same ways.

    Args:
        pairs: [pairs, 2] query and key positions of a relation.
        usable: [L] tokens of the sentence.
        forms: [L, properties] what is compared, such as length and frequency: the other words have
            more of it than the query if the key has, less if it has less, and as much otherwise.
        draws: Number of draws per pair.
        rng: Source of randomness.
    """
    compared = np.column_stack([np.arange(len(usable)), forms])
    fits = []
    for query, key in pairs.tolist():
        signs = np.sign(compared - compared[query])
        alike = usable & (signs == signs[key]).all(axis=1)
        alike[pairs[pairs[:, 0] == query, 1]] = False
        fits.append(alike)
    return _draw_keys(pairs, fits, draws, rng)


def _draw_keys(
    pairs: Integers, fits: Sequence[Flags], draws: int, rng: np.random.Generator
) -> Drawn:
    """Let the query of each pair attend to random tokens among those that fit, if there are any."""
    kept, drawn = [], []
    for number, (query, own) in enumerate(zip(pairs[:, 0].tolist(), fits, strict=True)):
        keys = np.flatnonzero(own)
        if len(keys):
            kept.append(number)
            drawn.append(np.stack([np.full(draws, query), rng.choice(keys, draws)], axis=1))
    return Drawn.of(pairs[kept], drawn, draws)


def draw_at_relative_places(
    pairs: Integers, queries: Flags, keys: Flags, draws: int, rng: np.random.Generator
) -> Integers:
    """Draw pairs that are as far from the same relative place in both sentences.

    Args:
        pairs: [pairs, 2] query and key positions of a relation.
        queries: [L] tokens that may attend: a sentence.
        keys: [L] tokens that may be attended to: a sentence.
        draws: Number of draws per pair; the pair is among those drawn from.
        rng: Source of randomness.

    Returns:
        [draws, pairs, 2].
    """
    own, other = np.flatnonzero(queries), np.flatnonzero(keys)
    there = ((np.arange(len(own)) + 0.5) / len(own) * len(other)).astype(np.int64)
    drawn = np.empty((draws, len(pairs), 2), dtype=np.int64)
    for number, (query, key) in enumerate(pairs.tolist()):
        i, j = np.searchsorted(own, query), np.searchsorted(other, key)
        beside = there + j - there[i]
        fits = np.flatnonzero((beside >= 0) & (beside < len(other)))
        chosen = rng.choice(fits, draws)
        drawn[:, number] = np.stack([own[chosen], other[beside[chosen]]], axis=1)
    return drawn


def hexagons(
    pairs: Integers, queries: Flags, keys: Flags, draws: int, rng: np.random.Generator
) -> Integers:
    """Draw six cells around every pair in which three effects cancel, see `stats.contrasts`.

    Args:
        pairs: [pairs, 2] query and key positions of a relation.
        queries: [L] tokens that may attend.
        keys: [L] tokens that may be attended to.
        draws: Number of draws per pair; none of the other five cells is a pair.
        rng: Source of randomness.

    Returns:
        [hexagons, 6, 2]; pairs around which none fits are left out.
    """
    related = np.zeros((len(queries), len(queries)), dtype=np.bool_)
    related[pairs[:, 0], pairs[:, 1]] = True
    found = [np.empty((0, 6, 2), dtype=np.int64)]
    for i, j in pairs.tolist():
        cells = contrasts.hexagons((i, j), queries, keys, related)
        if len(cells):
            found.append(cells[rng.integers(len(cells), size=draws)])
    return np.concatenate(found)


@dataclass(frozen=True)
class PairsElsewhere:
    """The pairs of a sentence, and those of others with as many words, at their places in it.

    Attributes:
        pairs: [pairs, 2] query and key positions.
        others: [cells, 2] those of the other sentences, one sentence after the other.
        first: [sentences] the first cell of each.
    """

    pairs: Integers
    others: Integers
    first: Integers


@dataclass(frozen=True)
class PairCells:
    """The pairs of one relation in one example, and cells to compare them with.

    Attributes:
        example: Number of the example in its batch.
        kind: Number of the relation.
        six: [hexagons, 6, 2] from `hexagons`.
        drawn: What pairs are compared with, by the name of the control.
        places: For each sentence of the example, the control for the place; none if `drawn` has it.
    """

    example: int
    kind: int
    six: Integers
    drawn: Mapping[str, Drawn]
    places: Sequence[PairsElsewhere] = ()


class Additive:
    """Arrays of sums over examples, whose last axis is the heads."""

    ARRAYS: tuple[str, ...] = ()
    """Names of the arrays."""

    def __iadd__(self, other: Self) -> Self:
        """Add the sums of another batch."""
        for name in self.ARRAYS:
            vars(self)[name] += vars(other)[name]
        return self

    def of(self, heads: slice) -> Self:
        """The sums of some heads, of all layers."""
        part = copy.copy(self)
        vars(part).update({name: vars(self)[name][..., heads] for name in self.ARRAYS})
        return part


class Differences(Additive):
    """Sums over examples of what exceeds the controls, for every kind and head.

    Attributes:
        controls: Names of the controls.
        sums: [control, kinds, layer, head].
        squares: The same of their squares.
        units: The same of the numbers of examples.
    """

    ARRAYS = ("sums", "squares", "units")

    def __init__(self, controls: Sequence[str], kinds: int, *heads: int) -> None:
        self.controls = tuple(controls)
        self.sums, self.squares = np.zeros((2, len(controls), kinds, *heads))
        self.units = np.zeros((len(controls), kinds, *heads), dtype=np.int64)

    def add(self, maps: Reals, cells: PairCells, how: np.ufunc) -> None:
        """Compare the pairs of one example with their controls.

        Args:
            maps: [layer, head, query, key] of the example, NaN where a query cannot reach a key. In
                a layer that reaches only some of the pairs, these are compared with their draws.
            cells: Where to look.
            how: ``np.fmax`` for the greatest weight of the pairs, ``np.add`` for their mean.
        """

        def weights(at: Integers) -> Floats:
            return maps[:, :, at[..., 0], at[..., 1]].astype(np.float64)

        for name, drawn in cells.drawn.items():
            if len(drawn.pairs):
                own, control = _compared(weights(drawn.pairs), weights(drawn.others), how)
                self._add(name, cells.kind, own - control, np.maximum(own, control))
        if cells.places:
            own, control = np.array(
                [_elsewhere(weights(one.pairs), weights(one.others), one) for one in cells.places]
            ).swapaxes(0, 1)
            difference = own - control
            # A sum over sentences, so that over a corpus that of a head of places is 0.
            unknown = np.isnan(difference).all(axis=0)
            total = np.where(unknown, np.nan, np.nansum(difference, axis=0))
            self._add(PLACE, cells.kind, total, np.fmax(own, control).max(axis=0))
        if len(cells.six):
            six = weights(cells.six)
            greatest = np.nan_to_num(six).max(axis=(-2, -1))
            for name, over in (
                (SUM, contrasts.excess_over_sum),
                (PRODUCT, contrasts.excess_over_product),
            ):
                self._add(name, cells.kind, nanmean(over(six)), greatest)

    def _add(self, name: str, kind: int, difference: Floats, size: Floats) -> None:
        """Add a difference; up to a rounding error of its greatest term it counts as 0."""
        control, known = self.controls.index(name), ~np.isnan(difference)
        sure = np.where(known & (np.abs(difference) > ROUNDING * size), difference, 0)
        self.sums[control, kind] += sure
        self.squares[control, kind] += sure**2
        self.units[control, kind] += known

    def tests(self) -> dict[str, Floats]:
        """[kinds, layer, head] columns ``p_value`` and ``q_value`` of exceeding all controls."""
        p = intersection_union(student(self.sums, self.squares, self.units).p)
        return {
            "p_value": p,
            "q_value": np.stack([benjamini_hochberg(kind_p_values) for kind_p_values in p]),
        }

    def control_columns(self) -> dict[str, Floats | Integers]:
        """[control, kinds, layer, head] columns of `tables.EQUAL_WORD_CONTROLS`."""
        tests = student(self.sums, self.squares, self.units)
        return {
            "examples": self.units,
            "difference": tests.mean,
            "difference_low": tests.low,
            "difference_high": tests.high,
        }


def _elsewhere(own: Floats, others: Floats, cells: PairsElsewhere) -> tuple[Floats, Floats]:
    """The greatest weight of a sentence's pairs, and of others', mean over the other sentences.

    Args:
        own: [layer, head, pairs] weights, NaN out of reach.
        others: [layer, head, cells] weights, NaN out of reach.
        cells: Which of these belong to each sentence.

    Returns:
        [layer, head] each; NaN where nothing is in reach.
    """
    return _reduced(own, np.fmax), nanmean(np.fmax.reduceat(others, cells.first, axis=-1))


def _compared(pairs: Floats, drawn: Floats, how: np.ufunc) -> tuple[Floats, Floats]:
    """Reduce the pairs of an example, and every set of their draws.

    A set has a draw of each pair that counts: one in reach, with a draw in reach. If draws are out
    of reach, sets are put together from the others, as many as the pair with the fewest has.

    Args:
        pairs: [layer, head, pairs] weights, NaN out of reach.
        drawn: [layer, head, draws, pairs] weights, NaN out of reach.
        how: ``np.fmax`` or ``np.add``, for the mean.

    Returns:
        [layer, head] of the pairs, and the mean over the sets; NaN if no pair counts.
    """
    out = np.isnan(drawn)
    if out.any():
        drawn = np.take_along_axis(drawn, np.argsort(out, axis=-2, kind="stable"), axis=-2)
    counts = ~(np.isnan(pairs) | out.all(axis=-2))
    pairs = np.where(counts, pairs, np.nan)
    complete = (~np.isnan(drawn) | ~counts[..., None, :]).all(axis=-1, keepdims=True)
    drawn = np.where(complete & counts[..., None, :], drawn, np.nan)
    return _reduced(pairs, how), nanmean(_reduced(drawn, how))


def _reduced(values: Floats, how: np.ufunc) -> Floats:
    """Greatest value or mean over the last axis; NaN if all are."""
    if how is np.add:
        return nanmean(values)
    return how.reduce(values, axis=-1)
