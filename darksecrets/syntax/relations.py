"""What a treebank says about pairs of words: relations, and the pairs to compare them with.

All pairs of words of all sentences are numbered: sentence by sentence, then by the first word. What
is counted of a head are pairs of a word and its guess, with weights that depend on the treebank
only: 1 for dependents and their heads, and parts of 1 for pairs of a control.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from darksecrets.run.errors import InputError
from darksecrets.stats.resampling import stratified_halves
from darksecrets.syntax.guesses import Read
from darksecrets.syntax.tables import ALL
from darksecrets.syntax.treebank import ROOT

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

OFFSETS: tuple[int, ...] = (*range(-8, 0), *range(1, 9))
"""Distances from dependent to head that are tried. Clark et al.'s released code tries −3 to 2."""
FEWEST = 20
"""Dependents of a label that each half needs, and that a control of its own needs."""
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
class Pairs:
    """All pairs of words of a treebank; those of a word with itself, too.

    Attributes:
        words: [sentences] number of words.
        sentence: [pairs] number of the sentence.
        half: [pairs] 0 for sentences that select, 1 for those that score.
        distance: [pairs] place of the second word, minus that of the first.
        tags: [pairs] number of the combination of distance and both parts of speech.
        key: [pairs] number of the second word, over all sentences.
        apart: [pairs] whether the words share no piece.
        label: [pairs] number of the label if the second word is the head of the first; else −1.
        labels: Names of the labels.
    """

    words: Numbers
    sentence: Numbers
    half: Numbers
    distance: Numbers
    tags: Numbers
    key: Numbers
    apart: Flags
    label: Numbers
    labels: tuple[str, ...]

    def arcs(self, label: str) -> Flags:
        """[pairs] the dependents with a label and their heads, if they are apart."""
        if label == ALL:
            return self.apart & (self.label >= 0)
        found: Flags = self.apart & (self.label == self.labels.index(label))
        return found

    def shown(self) -> Iterator[str]:
        """Labels of which both halves have enough dependents; at first, all together.

        Raises:
            InputError: All together are not enough.
        """
        counts = {label: self._per_half(label) for label in (ALL, *self.labels)}
        if min(counts[ALL]) < FEWEST:
            raise InputError(
                f"Found {sum(counts[ALL])} dependents in the {len(self.words)} sentences of the "
                f"treebank, expected {FEWEST} in each half of them. Use more sentences."
            )
        others = sorted(set(self.labels) - _NOT_SHOWN, key=lambda label: -sum(counts[label]))
        yield ALL
        yield from (label for label in others if min(counts[label]) >= FEWEST)

    def _per_half(self, label: str) -> tuple[int, int]:
        found = self.half[self.arcs(label)]
        return int((found == 0).sum()), int((found == 1).sum())

    def guessed(self, guesses: Sequence[npt.NDArray[np.int16]]) -> Numbers:
        """[words, ...] number of the pair of every word and its guess.

        Args:
            guesses: For each sentence, [words, ...], see `guesses.guesses`. No guess counts as the
                word itself, which is no pair of any relation.
        """
        found, first = [], 0
        for guess in guesses:
            own = np.arange(len(guess)).reshape(-1, *[1] * (guess.ndim - 1))
            found.append(first + len(guess) * own + np.where(guess < 0, own, guess))
            first += len(guess) ** 2
        return np.concatenate(found)

    def sums(self, weights: npt.NDArray[np.generic]) -> Floats:
        """[sentences] sum of weights of pairs over those of each sentence."""
        counts = np.bincount(self.sentence, weights.astype(np.float64), len(self.words))
        return counts.astype(np.float64)

    def found(self, weights: npt.NDArray[np.generic], guessed: Numbers) -> Floats:
        """[sentences, ...] sum of the weights of the pairs that words and their guesses are.

        Args:
            weights: [pairs].
            guessed: [words, ...] from `guessed`.
        """
        first = np.cumsum(self.words) - self.words
        sums: Floats = np.add.reduceat(weights[guessed].astype(np.float64), first, axis=0)
        return sums


def halves(read: Sequence[Read], seed: int) -> Numbers:
    """[sentences] 0 for a random half of the sentences, which selects, and 1 for the other."""
    half: Numbers = stratified_halves(np.zeros(len(read)), np.random.default_rng(seed))
    return half


def first_greatest(values: Floats) -> Flags:
    """The greatest of all values; if several are, the first of them."""
    flags = np.zeros(values.shape, dtype=np.bool_)
    flags.flat[int(values.argmax())] = True
    return flags


def pairs_of(read: Sequence[Read], seed: int) -> Pairs:
    """Number the pairs of words of some sentences, and split these into halves at random.

    Args:
        read: The sentences.
        seed: Seed of the halves.
    """
    half = halves(read, seed)
    words = np.array([len(each.sentence) for each in read])
    labels = tuple(sorted({label for each in read for label in each.sentence.labels}))
    tags = {tag: n for n, tag in enumerate(sorted({t for r in read for t in r.sentence.tags}))}
    first_word = np.cumsum(words) - words
    columns: list[tuple[npt.NDArray[Any], ...]] = []
    for number, each in enumerate(read):
        size = len(each.sentence)
        row, column = (places.ravel() for places in np.indices((size, size)))
        own = np.array([tags[tag] for tag in each.sentence.tags])
        kinds = ((column - row) * len(tags) + own[row]) * len(tags) + own[column]
        label = np.full((size, size), -1)
        for word, head in enumerate(each.sentence.heads):
            if head != ROOT:
                label[word, head] = labels.index(each.sentence.labels[word])
        columns.append(
            (
                *(np.full(size**2, number), np.full(size**2, half[number]), column - row),
                *(kinds, first_word[number] + column, each.apart.ravel(), label.ravel()),
            )
        )
    joined = [np.concatenate(parts) for parts in zip(*columns, strict=True)]
    joined[3] = np.unique(joined[3], return_inverse=True)[1]
    sentence, of_half, distance, kinds, key, apart, label = joined
    return Pairs(
        words, sentence, of_half, distance, kinds, key, apart.astype(np.bool_), label, labels
    )


def best_offset(pairs: Pairs, arcs: Flags) -> int:
    """The most frequent distance from dependent to head in the selecting half."""
    distances = pairs.distance[arcs & (pairs.half == 0)]
    counts = [np.count_nonzero(distances == offset) for offset in OFFSETS]
    return OFFSETS[int(np.argmax(counts))]


def same_distance(pairs: Pairs, arcs: Flags) -> Control:
    """Pairs that are as far apart as dependents and heads, but not so related."""
    return _matched(pairs, arcs, pairs.distance - pairs.distance.min())


def same_tags(pairs: Pairs, arcs: Flags) -> Control:
    """Such pairs whose words also have the parts of speech of dependent and head."""
    return _matched(pairs, arcs, pairs.tags)


def other_words(pairs: Pairs, arcs: Flags) -> Control:
    """The heads of dependents, with all words of the sentence that do not so depend on them."""
    return _matched(pairs, arcs, pairs.key)


def _matched(pairs: Pairs, arcs: Flags, cells: Numbers) -> Control:
    """Compare each dependent and its head with all unrelated pairs of the same cell, equally.

    All are of the scoring half.
    """
    scoring = pairs.half == 1
    related, others = arcs & scoring, pairs.apart & ~arcs & scoring
    size = int(cells.max()) + 1
    compared = np.bincount(cells[others], minlength=size)
    related &= compared[cells] > 0
    wanted = np.bincount(cells[related], minlength=size) / max(1, int(related.sum()))
    return Control(related, np.where(others, wanted[cells] / np.maximum(compared[cells], 1), 0.0))
