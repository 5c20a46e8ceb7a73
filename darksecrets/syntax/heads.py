"""How often heads find the head of a dependent, beside the best offset and three controls.

A head finds the head of a dependent if, of all other words, it is the one that the dependent
attends to most (or, in the other direction, the one that attends to the dependent most). It is
syntactic if it does so more often than

- the best *offset*, such as the next word;
- for words *at the same distance* that are not so related: a head that attends to some distances
  finds those as often;
- for words at the same distance *with the same parts of speech*: so does one that attends to a
  class of words;
- for *other words* and the same head: so does one that attends to this word from everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.stats import LEVEL
from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.paired import intersection_union, sign_bound
from darksecrets.stats.ratios import ratio, share
from darksecrets.stats.resampling import feasible
from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.relations import (
    FEWEST,
    Control,
    Floats,
    Numbers,
    Pairs,
    best_offset,
    first_greatest,
    other_words,
    pairs_of,
    same_distance,
    same_tags,
)
from darksecrets.syntax.tables import DIRECTIONS, NO, OPEN, SYNTACTIC_HEADS, YES

_CONTROLS = {
    "same_distance": ("over_distance", same_distance),
    "same_tags": ("over_tags", same_tags),
    "other_words": ("over_words", other_words),
}
"""Columns of each control and of what exceeds it, and the function that finds its pairs."""


def table(read: Sequence[Read], guesses: Sequence[Guess], seed: int) -> pd.DataFrame:
    """The table `syntactic_heads` of a model, without the columns that name it.

    Args:
        read: The sentences that it read.
        guesses: For each, [words, layer, head, direction], see `guesses.guesses`.
        seed: Seed of the halves.

    Raises:
        InputError: There are too few dependents.
    """
    pairs = pairs_of(read, seed)
    guessed = pairs.guessed(guesses)
    parts = [_of_label(pairs, guessed, label) for label in pairs.shown()]
    found = pd.concat(parts, ignore_index=True)
    found["q_value"] = benjamini_hochberg(found["p_value"])
    compared = found["tags_arcs"] >= FEWEST
    verdicts = np.where(compared, YES, OPEN)
    found["syntactic"] = np.where(found["q_value"] < LEVEL, verdicts, NO)
    return found[[name for name in SYNTACTIC_HEADS.names if name in found]]


@dataclass(frozen=True)
class Compared:
    """What exceeds a control.

    Attributes:
        control: [...] how often the control's pairs are found.
        over: [...] how much more often dependents' heads are.
        p: [...] p-values.
        arcs: Dependents that are compared.
    """

    control: Floats
    over: Floats
    p: Floats
    arcs: int


def _of_label(pairs: Pairs, guessed: Numbers, label: str) -> pd.DataFrame:
    """Rows of one label, for all heads in both directions."""
    arcs = pairs.arcs(label)
    selecting, scoring = (arcs & (pairs.half == half) for half in (0, 1))
    hits, chosen = pairs.found(scoring, guessed), pairs.found(selecting, guessed)
    sizes = pairs.sums(scoring)
    wide = sizes.reshape(-1, *[1] * (hits.ndim - 1))
    offset = best_offset(pairs, arcs)
    at_offset = pairs.sums(scoring & (pairs.distance == offset)).reshape(wide.shape)
    accuracy, over = share(hits, wide), ratio(hits - at_offset, wide)
    low, high = feasible([over.low, over.high], -1, 1)
    selected = chosen.sum(axis=0) / selecting.sum()
    controls = {
        name: compare(pairs, guessed, find(pairs, arcs)) for name, (_, find) in _CONTROLS.items()
    }
    differences = hits - at_offset
    p = [sign_bound(differences.sum(axis=0), (differences**2).sum(axis=0))]
    p += [each.p for name, each in controls.items() if name != "same_tags" or each.arcs >= FEWEST]
    columns = {
        "label": label,
        **_places(selected.shape),
        "arcs": int(sizes.sum()),
        "sentences": int((sizes > 0).sum()),
        **{"accuracy": accuracy.value, "accuracy_low": accuracy.low},
        "accuracy_high": accuracy.high,
        "selected": first_greatest(selected),
        "selecting": selected,
        **{"offset": offset, "at_offset": at_offset.sum() / sizes.sum()},
        **{"over_offset": over.value, "over_offset_low": low, "over_offset_high": high},
        **{name: each.control for name, each in controls.items()},
        **{_CONTROLS[name][0]: each.over for name, each in controls.items()},
        "tags_arcs": controls["same_tags"].arcs,
        "p_value": intersection_union(np.stack(p)),
    }
    rows = {
        name: np.broadcast_to(values, selected.shape).transpose(2, 0, 1).ravel()
        for name, values in columns.items()
    }
    return pd.DataFrame(rows)


def _places(shape: tuple[int, ...]) -> dict[str, npt.NDArray[np.generic]]:
    """Columns that name a head and a direction, [layer, head, direction]."""
    layer, head, direction = np.indices(shape)
    return {"direction": np.array(DIRECTIONS)[direction], "layer": layer + 1, "head": head + 1}


def compare(pairs: Pairs, guessed: Numbers, control: Control) -> Compared:
    """Compare how often heads find related words, and the pairs of a control.

    A sentence's difference is what it adds to the difference of both rates, if both were the
    control's: the hypothesis that is tested. Its variance is at least that of independent finds.

    Args:
        pairs: All pairs of words.
        guessed: [words, ...] see `Pairs.guessed`.
        control: The control.
    """
    arcs = int(control.arcs.sum())
    shape = guessed.shape[1:]
    if not arcs:
        unknown = np.full(shape, np.nan)
        return Compared(unknown, unknown, np.ones(shape), 0)
    hits, others = (pairs.found(each, guessed) for each in (control.arcs, control.weights))
    sizes, parts = (
        pairs.sums(each).reshape(-1, *[1] * len(shape)) for each in (control.arcs, control.weights)
    )
    rate = others.sum(axis=0)
    differences = (hits - rate * sizes) - arcs * (others - rate * parts)
    least = arcs * rate * (1 - rate)
    squares = np.maximum((differences**2).sum(axis=0), least)
    sums = differences.sum(axis=0)
    return Compared(rate, sums / arcs, sign_bound(sums, squares), arcs)
