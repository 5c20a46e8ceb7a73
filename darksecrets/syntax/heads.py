"""How often heads find the head of a dependent, beside the best offset and four controls.

A head finds the head of a dependent if, of all other words, it is the one that the dependent
attends to most (or, in the other direction, the one that attends to the dependent most). It is
syntactic if it does so more often than

- the best *offset*, such as the next word;
- for words *at the same distance* that are not so related: a head that attends to some distances
  finds those as often;
- for words at the same distance *with the same parts of speech*: so does one that attends to a
  class of words;
- for words where the nth word of the head's part of speech, on its side, is not so related: so does
  a head that attends to the next noun, say;
- for *other words* and the same head: so does one that attends to this word from everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from darksecrets.stats import LEVEL
from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.paired import intersection_union, sign_bound
from darksecrets.stats.ratios import Sums, added
from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.pairs import Flags, Floats, Numbers, Pairs, Treebank
from darksecrets.syntax.relations import (
    CONTROLS,
    FEWEST,
    OTHER_WORDS,
    SAME_DISTANCE,
    SAME_RANK,
    SAME_TAGS,
    Relation,
    first_greatest,
    of_every_head,
    relations,
)
from darksecrets.syntax.tables import NO, OPEN, SYNTACTIC_HEADS, YES

_OVER = {
    SAME_DISTANCE: "over_distance",
    SAME_TAGS: "over_tags",
    SAME_RANK: "over_rank",
    OTHER_WORDS: "over_words",
}
"""Column of what exceeds each control."""


def table(read: Sequence[Read], guesses: Sequence[Guess], seed: int) -> pd.DataFrame:
    """The table `syntactic_heads` of a model, without the columns that name it.

    Args:
        read: The sentences that it read.
        guesses: For each, [words, layer, head, direction], see `guesses.guesses`.
        seed: Seed of the halves.

    Raises:
        InputError: There are too few dependents.
    """
    treebank = Treebank.of(read, seed)
    return of_model(treebank, relations(treebank), guesses)


def of_model(
    treebank: Treebank, known: Sequence[Relation], guesses: Sequence[Guess]
) -> pd.DataFrame:
    """The same of a model that read a treebank whose relations are known."""
    labels = [_Label(relation) for relation in known]
    for second in (False, True):
        for pairs in treebank.blocks():
            guessed = pairs.guessed(guesses)
            for label in labels:
                (label.add_squares if second else label.add)(pairs, guessed)
    found = pd.concat([label.rows() for label in labels], ignore_index=True)
    found["q_value"] = benjamini_hochberg(found["p_value"])
    compared = found["tags_arcs"] >= FEWEST
    verdicts = np.where(compared, YES, OPEN)
    found["syntactic"] = np.where(found["q_value"] < LEVEL, verdicts, NO)
    return found[[name for name in SYNTACTIC_HEADS.names if name in found]]


@dataclass
class _Against:
    """What exceeds a control, of all heads in both directions.

    A sentence's difference is what it adds to the difference of both rates, if both were the
    control's: the hypothesis that is tested. Its variance is at least that of independent finds.

    Attributes:
        arcs: Dependents that are compared.
        rate: [...] how often the control's pairs are found.
        sums: [...] sum of the differences of sentences.
        squares: [...] of their squares.
    """

    arcs: int
    rate: Floats = field(default_factory=lambda: np.zeros(()))
    sums: Floats = field(default_factory=lambda: np.zeros(()))
    squares: Floats = field(default_factory=lambda: np.zeros(()))

    def add(self, hits: Floats, others: Floats, sizes: Floats, parts: Floats) -> None:
        """Add sentences, after `rate` is known of all of them.

        Args:
            hits: [sentences, ...] compared dependents whose heads are found.
            others: [sentences, ...] weights of the control's pairs that are found.
            sizes: [sentences, 1 …] compared dependents.
            parts: [sentences, 1 …] weights of the control's pairs.
        """
        rate, arcs = self.rate, self.arcs
        differences = (hits - rate * sizes) - arcs * (others - rate * parts)
        self.sums = added(self.sums, differences)
        self.squares = added(self.squares, differences**2)

    def columns(self) -> tuple[Floats, Floats, Floats]:
        """Rate of the control, how much more often dependents' heads are found, and p-values."""
        if not self.arcs:
            unknown = np.full(self.rate.shape, np.nan)
            return unknown, unknown, np.ones(self.rate.shape)
        least = self.arcs * self.rate * (1 - self.rate)
        p = sign_bound(self.sums, np.maximum(self.squares, least))
        return self.rate, self.sums / self.arcs, p


class _Label:
    """What all heads find of one label in both directions, from blocks that are added twice.

    Args:
        relation: The label in the whole treebank.
    """

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.accuracy, self.over = Sums(), Sums()
        self.chosen: Floats = np.zeros(())
        self.squares: Floats = np.zeros(())
        self.at_offset = 0.0
        self.against = {name: _Against(relation.compared[name]) for name in CONTROLS}

    def add(self, pairs: Pairs, guessed: Numbers) -> None:
        """Add a block for the first time; ``guessed`` is from `Pairs.guessed`."""
        selecting = pairs.arcs(self.relation.label) & (pairs.half == 0)
        self.chosen = self.chosen + pairs.found(selecting, guessed, 0).sum(axis=0)
        hits, sizes, at_offset = self._scored(pairs, guessed)
        self.accuracy.add(hits, sizes)
        self.over.add(hits - at_offset, sizes)
        self.squares = self.squares + ((hits - at_offset) ** 2).sum(axis=0)
        self.at_offset += at_offset.sum()
        for name, against in self.against.items():
            weights = self._control(name, pairs)[1]
            found = pairs.found(weights, guessed, 1)[pairs.halves == 1]
            against.rate = added(against.rate, found)

    def add_squares(self, pairs: Pairs, guessed: Numbers) -> None:
        """Add it again, after all blocks were added once."""
        hits, sizes, at_offset = self._scored(pairs, guessed)
        self.accuracy.add_squares(hits, sizes)
        self.over.add_squares(hits - at_offset, sizes)
        own = pairs.halves == 1
        for name, against in self.against.items():
            if against.arcs:
                both = self._control(name, pairs)
                sums = (pairs.found(each, guessed, 1)[own] for each in both)
                against.add(*sums, *(_wide(pairs.sums(each)[own], guessed) for each in both))

    def _scored(self, pairs: Pairs, guessed: Numbers) -> tuple[Floats, Floats, Floats]:
        """[scoring sentences, ...] dependents found by heads, all of them, those at the offset."""
        own, arcs = pairs.halves == 1, pairs.arcs(self.relation.label) & (pairs.half == 1)
        at = arcs & (pairs.distance == self.relation.offset)
        sizes, at_offset = (_wide(pairs.sums(each)[own], guessed) for each in (arcs, at))
        return pairs.found(arcs, guessed, 1)[own], sizes, at_offset

    def _control(self, name: str, pairs: Pairs) -> tuple[Flags, Floats]:
        """[pairs] the dependents that are compared, and the weights of what with."""
        found = self.relation.control(name, pairs, pairs.arcs(self.relation.label))
        return found.arcs, found.weights

    def rows(self) -> pd.DataFrame:
        """Rows of the table, after all blocks were added twice."""
        accuracy, over = self.accuracy.share(), self.over.ratio()
        selected = self.chosen / self.relation.sizes[0]
        compared = {name: each.columns() for name, each in self.against.items()}
        of_tags = self.against[SAME_TAGS].arcs
        p = [sign_bound(self.over.sums, self.squares)]
        p += [
            found[2] for name, found in compared.items() if name != SAME_TAGS or of_tags >= FEWEST
        ]
        columns = {
            "label": self.relation.label,
            "arcs": int(self.accuracy.sizes.sum()),
            "sentences": int(self.accuracy.clusters.sum()),
            **accuracy.columns("accuracy"),
            "selected": first_greatest(selected),
            "selecting": selected,
            "offset": self.relation.offset,
            "at_offset": self.at_offset / self.accuracy.sizes.sum(),
            **over.columns("over_offset", -1, 1),
            **{name: found[0] for name, found in compared.items()},
            **{_OVER[name]: found[1] for name, found in compared.items()},
            "tags_arcs": of_tags,
            "p_value": intersection_union(np.stack(p)),
        }
        return of_every_head(columns, selected.shape)


def _wide(sums: Floats, guessed: Numbers) -> Floats:
    """[sentences] sums for all heads alike."""
    return sums.reshape(-1, *[1] * (guessed.ndim - 1))
