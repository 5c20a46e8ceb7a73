"""Relations of a treebank, and the pairs of words to compare dependents and their heads with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.run.errors import InputError
from darksecrets.syntax.pairs import Flags, Floats, Numbers, Pairs, Treebank
from darksecrets.syntax.tables import ALL, DIRECTIONS

OFFSETS: tuple[int, ...] = (*range(-8, 0), *range(1, 9))
"""Distances from dependent to head that are tried. Clark et al.'s released code tries −3 to 2."""
FEWEST = 20
"""Dependents of a label that each half needs, and that a control of its own needs."""
SAME_DISTANCE = "same_distance"
"""Control: pairs that are as far apart as dependents and heads, but not so related."""
SAME_TAGS = "same_tags"
"""Control: such pairs whose words also have the parts of speech of dependent and head."""
SAME_RANK = "same_rank"
"""Control: pairs whose second word is, like the head, the nth of its part of speech there."""
OTHER_WORDS = "other_words"
"""Control: the heads of dependents, with all words of the sentence that have other heads."""
CONTROLS = (SAME_DISTANCE, SAME_TAGS, SAME_RANK, OTHER_WORDS)
_NOT_SHOWN = frozenset({"punct", "root", ALL})


@dataclass(frozen=True)
class Control:
    """Pairs of words of a block to compare the dependents of a label and their heads with.

    Attributes:
        arcs: [pairs] the dependents and heads that have such pairs.
        weights: [pairs] weight of each pair of words; their sum over all blocks is 1, or 0 without
            any.
    """

    arcs: Flags
    weights: Floats


@dataclass(frozen=True)
class Cells:
    """How many pairs there are of each cell, such as a distance; all are of the scoring half.

    Each dependent and its head are compared with all unrelated pairs of the same cell, equally.

    Attributes:
        every: [cells] pairs of words that are apart.
        related: [cells] dependents and their heads among them.
    """

    every: Numbers
    related: Numbers

    @property
    def compared(self) -> int:
        """Dependents in whose cell there are others."""
        return int(self.related[self.every > self.related].sum())

    def control(self, pairs: Pairs, arcs: Flags, cells: Numbers, compared: int) -> Control:
        """The control of a block.

        Args:
            pairs: The block.
            arcs: [pairs] dependents and their heads.
            cells: [pairs] number of the cell of each pair.
            compared: Dependents that are compared in all blocks.
        """
        related, others = arcs & (pairs.half == 1), pairs.apart & ~arcs & (pairs.half == 1)
        wanted, among = self.related / max(1, compared), (self.every - self.related)[cells]
        weights = np.where(others, wanted[cells] / np.maximum(among, 1), 0.0)
        return Control(related & (among > 0), weights)


def _counts(cells: Numbers, chosen: Flags, size: int) -> Numbers:
    """[size] chosen pairs of each cell."""
    return np.bincount(cells[chosen], minlength=size)


@dataclass
class Relation:
    """A label in the whole treebank.

    Attributes:
        label: The label, or `ALL`.
        sizes: Number of dependents in the selecting and in the scoring half.
        distances: Dependents of the selecting half at each of `OFFSETS`.
        cells: Cells of the controls, by distance, tags and rank. Those of other words are in one
            block each.
        compared: Dependents that each control is compared with.
    """

    label: str
    sizes: Numbers
    distances: Numbers
    cells: dict[str, Cells]
    compared: dict[str, int]

    def control(self, name: str, pairs: Pairs, arcs: Flags) -> Control:
        """A control, in a block; ``arcs`` are the [pairs] of this label there."""
        cells = _cells(name, pairs)
        own = self.cells[name] if name in self.cells else _within(pairs, arcs)
        return own.control(pairs, arcs, cells, self.compared[name])

    @property
    def offset(self) -> int:
        """The most frequent distance from dependent to head in the selecting half."""
        return OFFSETS[int(np.argmax(self.distances))]

    def add(self, pairs: Pairs) -> None:
        """Count the dependents of a block."""
        arcs = pairs.arcs(self.label)
        self.sizes += np.bincount(pairs.half[arcs], minlength=2)
        at = pairs.distance[arcs & (pairs.half == 0)]
        self.distances += [np.count_nonzero(at == offset) for offset in OFFSETS]
        scoring = arcs & (pairs.half == 1)
        for name, cells in self.cells.items():
            cells.related[:] += _counts(_cells(name, pairs), scoring, len(cells.related))
        self.compared[OTHER_WORDS] += _within(pairs, arcs).compared


def _within(pairs: Pairs, arcs: Flags) -> Cells:
    """The cells of other words: each is in one block."""
    scoring, size = pairs.half == 1, int(pairs.words.sum())
    return Cells(*(_counts(pairs.key, own & scoring, size) for own in (pairs.apart, arcs)))


def _cells(name: str, pairs: Pairs) -> Numbers:
    """[pairs] number of the cell of each, for a control."""
    return {
        SAME_DISTANCE: pairs.distance + pairs.longest,
        SAME_TAGS: pairs.tags,
        SAME_RANK: pairs.rank,
        OTHER_WORDS: pairs.key,
    }[name]


def relations(treebank: Treebank) -> list[Relation]:
    """Labels of which both halves have enough dependents; at first, all together.

    Raises:
        InputError: All together are not enough.
    """
    sizes = {
        SAME_DISTANCE: 2 * treebank.longest,
        SAME_TAGS: len(treebank.kinds),
        SAME_RANK: treebank.ranks,
    }
    every = {name: np.zeros(size, dtype=np.int64) for name, size in sizes.items()}
    found = {
        label: Relation(
            label,
            np.zeros(2, dtype=np.int64),
            np.zeros(len(OFFSETS), dtype=np.int64),
            {name: Cells(cells, np.zeros_like(cells)) for name, cells in every.items()},
            {OTHER_WORDS: 0},
        )
        for label in (ALL, *treebank.labels)
    }
    for pairs in treebank.blocks():
        for name, cells in every.items():
            cells += _counts(_cells(name, pairs), pairs.apart & (pairs.half == 1), len(cells))
        for relation in found.values():
            relation.add(pairs)
    for relation in found.values():
        relation.compared |= {name: cells.compared for name, cells in relation.cells.items()}
    return list(_shown(found, treebank))


def _shown(every: dict[str, Relation], treebank: Treebank) -> Iterator[Relation]:
    """Those with enough dependents, the most frequent first."""
    counts = every[ALL].sizes
    if counts.min() < FEWEST:
        raise InputError(
            f"Found {counts.sum()} dependents in the {len(treebank.read)} sentences of the "
            f"treebank, expected {FEWEST} in each half of them. Use more sentences."
        )
    others = sorted(set(treebank.labels) - _NOT_SHOWN)
    yield every[ALL]
    for label in sorted(others, key=lambda label: -every[label].sizes.sum()):
        if every[label].sizes.min() >= FEWEST:
            yield every[label]


def of_every_head(columns: Mapping[str, object], shape: tuple[int, ...]) -> pd.DataFrame:
    """A row for every direction and head, from values or [layer, head, direction] arrays."""
    layer, head, direction = np.indices(shape)
    places = {"direction": np.array(DIRECTIONS)[direction], "layer": layer + 1, "head": head + 1}
    return pd.DataFrame(
        {
            name: np.broadcast_to(values, shape).transpose(2, 0, 1).ravel()  # type: ignore[arg-type]
            for name, values in {**places, **columns}.items()
        }
    )


def first_greatest(values: Floats) -> Flags:
    """The greatest of all values; if several are, the first of them."""
    flags = np.zeros(values.shape, dtype=np.bool_)
    flags.flat[int(values.argmax())] = True
    return flags
