"""Maps of sentences of any length on one frame: [CLS] | sentence | [SEP] | sentence | [SEP]."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np

from darksecrets.core.arrays import Flags, Floats, Integers, Reals, Singles
from darksecrets.core.attention.store import AttentionStore

BINS = 10
"""Parts of equal length into which every sentence is divided."""
REACH = 8
"""Largest distance in the profile of offsets; further ones are added up, on either side."""
OFFSETS = 2 * REACH + 3
"""Entries of a profile: −9 and less, −8 … 8, 9 and more."""

SPECIAL = -1
Weights = Singles


@dataclass(frozen=True)
class Run:
    """Neighbouring tokens of one part of an example.

    Attributes:
        part: The sentence, 0 or 1, or `SPECIAL`.
        length: Number of tokens.
    """

    part: int
    length: int

    @property
    def bins(self) -> int:
        """Bins on the frame: `BINS` of a sentence, 1 of special tokens."""
        return 1 if self.part == SPECIAL else BINS


def runs(special: Flags, segments: Integers) -> tuple[Run, ...]:
    """The parts of an example: special tokens and sentences, in order.

    Args:
        special: [L] whether a token is special.
        segments: [L] the sentence of each token.
    """
    parts = np.where(special, SPECIAL, segments)
    return tuple(Run(int(part), len(list(same))) for part, same in itertools.groupby(parts))


def projection(parts: tuple[Run, ...]) -> tuple[Weights, Weights]:
    """What the bins of a frame take of the tokens of an example.

    Each sentence is stretched to its bins. A bin's query is the mean of the tokens that it covers,
    and its key the sum of the attention to them, so that rows on the frame add up to 1, too.

    Returns:
        [bin, token] for queries, whose rows sum to 1, and for keys, whose columns do.
    """
    size = sum(part.bins for part in parts), sum(part.length for part in parts)
    queries, keys = np.zeros(size, np.float32), np.zeros(size, np.float32)
    row = column = 0
    for part in parts:
        block = slice(row, row + part.bins), slice(column, column + part.length)
        overlap = _overlap(part.bins, part.length)
        queries[block], keys[block] = overlap * part.bins, overlap * part.length
        row, column = row + part.bins, column + part.length
    return queries, keys


def _overlap(bins: int, tokens: int) -> Floats:
    """[bin, token] length that both share if each kind divides the interval from 0 to 1 evenly."""
    ends = np.minimum.outer(np.arange(1, bins + 1) / bins, np.arange(1, tokens + 1) / tokens)
    starts = np.maximum.outer(np.arange(bins) / bins, np.arange(tokens) / tokens)
    return np.maximum(0, ends - starts)


def place(maps: Reals, parts: tuple[Run, ...]) -> Weights:
    """Maps of an example on its frame.

    Args:
        maps: [..., query, key].
        parts: The parts of the example.

    Returns:
        [..., bin, bin].
    """
    queries, keys = projection(parts)
    return queries @ maps.astype(np.float32) @ keys.T


def profile(maps: Reals) -> Weights:
    """Attention by the distance from query to key, mean over queries.

    Args:
        maps: [..., query, key].

    Returns:
        [..., offset] `OFFSETS` shares that add up to 1; see there.
    """
    tokens = maps.shape[-1]
    distance = np.clip(np.subtract.outer(np.arange(tokens), np.arange(tokens)).T, -REACH - 1, None)
    distance = np.minimum(distance, REACH + 1) + REACH + 1
    # One column for every distance: a product is faster than sums over diagonals.
    chosen = np.eye(OFFSETS, dtype=np.float32)[distance.ravel()]
    flat = maps.astype(np.float32).reshape(*maps.shape[:-2], -1)
    return flat @ chosen / tokens


@dataclass(frozen=True)
class Frame:
    """The frame of a task: that of most of its examples.

    Attributes:
        parts: Sentences, 0 or 1, and `SPECIAL`, in order.
        names: What each part is called: its special tokens, or which sentence.
    """

    parts: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def bins(self) -> int:
        """Number of bins."""
        return sum(Run(part, 1).bins for part in self.parts)

    def fits(self, parts: tuple[Run, ...]) -> bool:
        """Whether an example has these parts."""
        return tuple(part.part for part in parts) == self.parts


def frame_of(store: AttentionStore) -> Frame:
    """The frame that most examples of a store have."""
    found = [runs(store.special(i), store.segments(i)) for i in range(store.examples)]
    orders = Counter(tuple(part.part for part in parts) for parts in found)
    order = orders.most_common(1)[0][0]
    first = next(i for i, parts in enumerate(found) if tuple(part.part for part in parts) == order)
    several = len({part for part in order if part != SPECIAL}) > 1
    sentences = ("first sentence", "second sentence") if several else ("sentence", "sentence")
    tokens = iter(store.tokens(first))
    names = []
    for part in found[first]:
        own = list(itertools.islice(tokens, part.length))
        names.append("".join(own) if part.part == SPECIAL else sentences[min(part.part, 1)])
    return Frame(order, tuple(names))
