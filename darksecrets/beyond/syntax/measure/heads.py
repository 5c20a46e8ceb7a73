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
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.beyond.syntax.declared import NO, OPEN, SYNTACTIC_HEADS, YES
from darksecrets.beyond.syntax.measure.guesses import Guess, Read
from darksecrets.beyond.syntax.measure.pairs import Floats, Numbers
from darksecrets.beyond.syntax.measure.relations import (
    CONTROLS,
    FEWEST,
    OTHER_WORDS,
    SAME_DISTANCE,
    SAME_RANK,
    SAME_TAGS,
    Relation,
    first_greatest,
    head_rows,
    relations,
)
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.paired import intersection_union, sign_bound
from darksecrets.core.stats.ratios import ratio, share

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
    return model_rows(relations(read, seed), guesses)


def model_rows(known: Sequence[Relation], guesses: Sequence[Guess]) -> pd.DataFrame:
    """The same of a model that read a treebank whose relations are known."""
    guessed = known[0].pairs.guessed(guesses)
    found = pd.concat([_label_rows(relation, guessed) for relation in known], ignore_index=True)
    found["q_value"] = benjamini_hochberg(found["p_value"])
    compared = found["tags_arcs"] >= FEWEST
    verdicts = np.where(compared, YES, OPEN)
    found["syntactic"] = np.where(found["q_value"] < LEVEL, verdicts, NO)
    return SYNTACTIC_HEADS.select(found)


def _label_rows(relation: Relation, guessed: Numbers) -> pd.DataFrame:
    """The rows of one label: all heads in both directions.

    Args:
        relation: The label.
        guessed: [words, layer, head, direction] from `Pairs.guessed`.
    """
    pairs = relation.pairs
    selecting = relation.arcs & (pairs.half == 0)
    selected = pairs.found(selecting, guessed, 0).sum(axis=0) / relation.sizes[0]

    arcs = relation.arcs & (pairs.half == 1)
    hits = pairs.found(arcs, guessed, 1)
    sizes = _wide(pairs.sums(arcs, 1), guessed)
    at_offset = _wide(pairs.sums(arcs & (pairs.distance == relation.offset), 1), guessed)
    more = hits - at_offset
    against = {name: _against(relation, name, guessed) for name in CONTROLS}
    tag_arcs = against[SAME_TAGS].arcs

    p_values = [sign_bound(more.sum(axis=0), (more**2).sum(axis=0))]
    for name, control in against.items():
        if name != SAME_TAGS or tag_arcs >= FEWEST:
            p_values.append(control.p_values)
    columns = {
        "label": relation.label,
        "arcs": int(sizes.sum()),
        "sentences": int((sizes > 0).sum()),
        **share(hits, sizes).columns("accuracy"),
        "selected": first_greatest(selected),
        "selecting": selected,
        "offset": relation.offset,
        "at_offset": at_offset.sum() / sizes.sum(),
        **ratio(more, sizes).columns("over_offset", -1, 1),
        **{name: control.rate for name, control in against.items()},
        **{_OVER[name]: control.over for name, control in against.items()},
        "tags_arcs": tag_arcs,
        "p_value": intersection_union(np.stack(p_values)),
    }
    return head_rows(columns, selected.shape)


@dataclass(frozen=True)
class _Against:
    """What exceeds a control, of all heads in both directions.

    Attributes:
        arcs: Dependents that are compared.
        rate: [...] how often the control's pairs are found; NaN if none is compared.
        over: [...] how much more often dependents' heads are found.
        p_values: [...] of no more.
    """

    arcs: int
    rate: Floats
    over: Floats
    p_values: Floats


def _against(relation: Relation, name: str, guessed: Numbers) -> _Against:
    """Compare what heads find of a label with what they find of a control.

    A sentence's difference is what it adds to the difference of both rates, if both were the
    control's: the hypothesis that is tested. Its variance is at least that of independent finds.
    """
    pairs, control = relation.pairs, relation.control(name)
    arcs = int(control.arcs.sum())
    if not arcs:
        unknown = np.full(guessed.shape[1:], np.nan)
        return _Against(0, unknown, unknown, np.ones(guessed.shape[1:]))
    others = pairs.found(control.weights, guessed, 1)
    rate = others.sum(axis=0)
    hits = pairs.found(control.arcs, guessed, 1)
    sizes = _wide(pairs.sums(control.arcs, 1), guessed)
    parts = _wide(pairs.sums(control.weights, 1), guessed)
    differences = (hits - rate * sizes) - arcs * (others - rate * parts)
    total = differences.sum(axis=0)
    squares = np.maximum((differences**2).sum(axis=0), arcs * rate * (1 - rate))
    return _Against(arcs, rate, total / arcs, sign_bound(total, squares))


def _wide(sums: Floats, guessed: Numbers) -> Floats:
    """[sentences, 1 …] sums for all heads alike."""
    return sums.reshape(-1, *[1] * (guessed.ndim - 1))
