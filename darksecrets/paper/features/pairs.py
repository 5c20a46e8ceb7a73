"""Do heads attend to related tokens more than controls (sections 4.5 and 5)?

A head that attends to all nouns attends from pronouns to their nouns, too, and more than at the
same distance elsewhere. So pairs have six controls:

- *distance*: random pairs at the same distance.
- *key*: the same tokens are attended to, but by other tokens of the sentence. In a sentence, as
  many words of the key's class are in between: a head that attends to the nearest or farthest noun
  gives it as much from these.
- *sum*: a contrast of six cells of the map, in which effects of the attending token, of the token
  attended to and of the distance cancel exactly, even in a head that adds them.
- *product*: a contrast of the same cells, in which products of these effects cancel: pronouns that
  attend to all tokens to their left, for example.
- *place*: random pairs whose tokens are as far from the same relative place in their sentences. For
  pairs within a sentence, these are at the same distance.
- *form*: the same tokens attend, to other words. These are as long as the attending word if the
  one attended to is, and likewise as frequent.
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
from darksecrets.paper.features.tables import CONTROLS, PRODUCT, SUM

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


def other_keys(
    pairs: Integers,
    keys: Flags,
    words: Integers,
    forms: Integers,
    draws: int,
    rng: np.random.Generator,
) -> Drawn:
    """Let the same tokens attend to other words that are as much like them in form.

    Args:
        pairs: [pairs, 2] query and key positions of a relation.
        keys: [L] tokens that may be attended to.
        words: [L] number of the word of each token; those of equal words are the same.
        forms: [L, 2] length and frequency of the word. Drawn are words that are as long as the
            query if the key is, or not if it is not; likewise as frequent.
        draws: Number of draws per pair.
        rng: Source of randomness.
    """
    kept, drawn = [], []
    for number, (query, key) in enumerate(pairs.tolist()):
        alike = forms == forms[query]
        others = keys & (words != words[key]) & (words != words[query])
        fits = np.flatnonzero(others & (alike == alike[key]).all(axis=1))
        if len(fits):
            kept.append(number)
            drawn.append(np.stack([np.full(draws, query), rng.choice(fits, draws)], axis=1))
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
class PairCells:
    """The pairs of one relation in one example, and random cells to compare them with.

    Attributes:
        example: Number of the example in its batch.
        kind: Number of the relation.
        six: [hexagons, 6, 2] from `hexagons`.
        drawn: What pairs are compared with, by the name of the control.
    """

    example: int
    kind: int
    six: Integers
    drawn: Mapping[str, Drawn]


class Additive:
    """Arrays of sums over examples, whose last axis is the heads."""

    def __iadd__(self, other: Self) -> Self:
        """Add the sums of another batch."""
        for name, values in vars(other).items():
            vars(self)[name] += values
        return self

    def of(self, heads: slice) -> Self:
        """The sums of some heads, of all layers."""
        part = copy.copy(self)
        vars(part).update({name: values[..., heads] for name, values in vars(self).items()})
        return part


class Differences(Additive):
    """Sums over examples of what exceeds the controls, for every kind and head.

    Attributes:
        sums: [control, kinds, layer, head]; controls in the order of `CONTROLS`.
        squares: The same of their squares.
        units: The same of the numbers of examples.
        controls: The same of the weights in the controls; 0 for those that are differences only.
    """

    def __init__(self, kinds: int, *heads: int) -> None:
        self.sums, self.squares, self.controls = np.zeros((3, len(CONTROLS), kinds, *heads))
        self.units = np.zeros((len(CONTROLS), kinds, *heads), dtype=np.int64)

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
                known = ~np.isnan(own - control)
                self.controls[CONTROLS.index(name), cells.kind] += np.where(known, control, 0)
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
        control, known = CONTROLS.index(name), ~np.isnan(difference)
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

    def control_columns(self) -> dict[str, Floats]:
        """[control, kinds, layer, head] columns of `tables.PAIR_CONTROLS`."""
        tests = student(self.sums, self.squares, self.units)
        with np.errstate(invalid="ignore"):
            controls = self.controls / self.units
        controls[[CONTROLS.index(SUM), CONTROLS.index(PRODUCT)]] = np.nan
        return {
            "examples": self.units,
            "value": controls,
            "difference": tests.mean,
            "difference_low": tests.low,
            "difference_high": tests.high,
            "p_value": tests.p,
        }


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
