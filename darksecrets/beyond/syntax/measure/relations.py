"""Relations of a treebank, and the pairs of words to compare dependents and their heads with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from darksecrets.beyond.syntax.declared import ALL, DIRECTIONS
from darksecrets.beyond.syntax.measure.guesses import Read
from darksecrets.beyond.syntax.measure.pairs import Flags, Floats, Numbers, Pairs
from darksecrets.core.run.errors import InputError

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
    """Pairs of words to compare the dependents of a label and their heads with.

    Attributes:
        arcs: [pairs] the dependents and heads that have such pairs.
        weights: [pairs] weight of each pair of words; their sum is 1, or 0 without any.
    """

    arcs: Flags
    weights: Floats


@dataclass(frozen=True)
class Relation:
    """The dependents of a label.

    Attributes:
        label: The label, or `ALL`.
        pairs: All pairs of the treebank.
    """

    label: str
    pairs: Pairs

    @property
    def arcs(self) -> Flags:
        """[pairs] dependents and their heads."""
        return self.pairs.arcs(self.label)

    @cached_property
    def sizes(self) -> Numbers:
        """Number of dependents in the selecting and in the scoring half."""
        return np.bincount(self.pairs.half[self.arcs], minlength=2)

    @cached_property
    def offset(self) -> int:
        """The most frequent distance from dependent to head in the selecting half."""
        at = self.pairs.distance[self.arcs & (self.pairs.half == 0)]
        return max(OFFSETS, key=lambda offset: np.count_nonzero(at == offset))

    def control(self, name: str) -> Control:
        """A control, in the scoring half.

        Each dependent and its head are compared with all unrelated pairs of the same cell, such as
        a distance, equally.

        Args:
            name: One of `CONTROLS`.
        """
        cells = _cells(name, self.pairs)
        scoring = self.pairs.half == 1
        related = self.arcs & scoring
        others = self.pairs.apart & ~self.arcs & scoring
        size = int(cells.max()) + 1
        cell_counts = np.bincount(cells[others], minlength=size)
        wanted = np.bincount(cells[related], minlength=size)
        compared = related & (cell_counts[cells] > 0)
        wanted_shares = wanted / max(1, int(compared.sum()))
        weights = wanted_shares[cells] / np.maximum(cell_counts[cells], 1)
        return Control(compared, np.where(others, weights, 0.0))


def _cells(name: str, pairs: Pairs) -> Numbers:
    """[pairs] number of the cell of each, for a control."""
    return {
        SAME_DISTANCE: pairs.distance - pairs.distance.min(),
        SAME_TAGS: pairs.tags,
        SAME_RANK: pairs.rank,
        OTHER_WORDS: pairs.key,
    }[name]


def relations(read: Sequence[Read], seed: int) -> list[Relation]:
    """Labels of which both halves have enough dependents; at first, all together.

    Args:
        read: The sentences that models read.
        seed: Seed of the halves.

    Raises:
        InputError: All together are not enough.
    """
    pairs = Pairs.of(read, seed)
    all_labels = Relation(ALL, pairs)
    if all_labels.sizes.min() < FEWEST:
        raise InputError(
            f"The {len(read)} sentences of the treebank have {all_labels.sizes.sum()} dependents; "
            f"each half of the sentences needs {FEWEST}. Use more sentences."
        )
    shown = [Relation(label, pairs) for label in pairs.labels if label not in _NOT_SHOWN]
    frequent = [relation for relation in shown if relation.sizes.min() >= FEWEST]
    frequent.sort(key=lambda relation: -relation.sizes.sum())
    return [all_labels, *frequent]


def head_rows(columns: Mapping[str, object], shape: tuple[int, ...]) -> pd.DataFrame:
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
