"""Memory does not grow with sentences times heads, and blocks of sentences change no digit."""

import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from made_up_syntax import anywhere, guesses, offset, read, relation

from darksecrets.stats import ratios
from darksecrets.syntax import changes, heads, pairs, trees
from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.spool import Spool

SEED = 3
SENTENCES = read(240, 5)
RULES = (relation("dobj"), relation("det", 0.7), offset(1), anywhere)


def spooled(arrays: Sequence[npt.NDArray[np.int16]], order: Sequence[int]) -> Spool:
    """The same on disk, written in this order."""
    spool = Spool()
    for number in order:
        spool.put(number, arrays[number])
    return spool


def of_heads(own: list[Read], guessed: Sequence[Guess]) -> pd.DataFrame:
    return heads.table(own, guessed, SEED)


def of_changes(own: list[Read], guessed: Sequence[Guess]) -> pd.DataFrame:
    other = guesses(own, RULES[::-1], np.random.default_rng(7))
    return changes.table(own, guessed, other, SEED)


def of_trees(own: list[Read], guessed: Sequence[Guess]) -> pd.DataFrame:
    """Counts that no tree has, but any table may."""
    rng = np.random.default_rng(8)
    most = np.array([len(trees.counted(each.sentence, each.apart)) for each in own])
    counts = [rng.integers(0, 1 + n, size=(2, 3, 2, 2)).astype(np.int16) for n in most]
    return trees.table(own, counts, SEED)


TABLES: dict[str, Callable[[list[Read], Sequence[Guess]], pd.DataFrame]] = {
    "heads": of_heads,
    "changes": of_changes,
    "trees": of_trees,
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("size", [1, 7, 64])
def test_blocks_change_no_digit(name, size, monkeypatch):
    """The reference is one block of all sentences, as sums over whole arrays would give."""
    guessed = guesses(SENTENCES, RULES, np.random.default_rng(1))
    monkeypatch.setattr(ratios, "added", lambda total, block: total + block.sum(axis=0))
    monkeypatch.setattr(heads, "added", lambda total, block: total + block.sum(axis=0))
    of = trees if name == "trees" else pairs
    monkeypatch.setattr(of, "BLOCK", len(SENTENCES))
    whole = TABLES[name](SENTENCES, guessed)
    monkeypatch.undo()
    monkeypatch.setattr(of, "BLOCK", size)
    pd.testing.assert_frame_equal(TABLES[name](SENTENCES, guessed), whole, check_exact=True)


def test_what_waits_on_disk_is_read_in_the_treebanks_order():
    rng = np.random.default_rng(2)
    arrays = [rng.integers(-1, 30, size=(n, 2, 3, 2)).astype(np.int16) for n in (4, 1, 9, 2)]
    spool = spooled(arrays, [2, 0, 3, 1])
    assert len(spool) == 4
    for one, other in zip(spool, arrays, strict=True):
        np.testing.assert_array_equal(one, other)


def test_memory_does_not_grow_with_sentences_times_heads():
    """From 60 to 240 sentences, the table of 40 heads needs as much as that of two, and a little.

    What grows is what a sentence has of itself: its tree, not what heads do with it.
    """
    few, many = RULES[2:], RULES[2:] * 20
    growth = {len(rules): peak(240, rules) - peak(60, rules) for rules in (few, many)}
    whole = sum(len(each.sentence) for each in SENTENCES[60:]) * (len(many) - len(few)) * 2 * 2
    assert growth[len(many)] - growth[len(few)] < 0.1 * whole


def peak(sentences: int, rules: Sequence[Callable[..., npt.NDArray[np.int64]]]) -> int:
    """Most bytes that are in use at a time while a table is made from guesses on disk."""
    own = SENTENCES[:sentences]
    spool = spooled(guesses(own, rules, np.random.default_rng(1)), range(sentences))
    tracemalloc.start()
    try:
        heads.table(own, spool, SEED)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
