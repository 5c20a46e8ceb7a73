"""All pairs of words of a treebank, in blocks of sentences.

Of a block, only sums are kept, so that memory does not grow with the number of sentences. The pairs
of a block are numbered: sentence by sentence, then by the first word. What is counted of a head are
pairs of a word and its guess, with weights that depend on the treebank only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from darksecrets.stats.resampling import stratified_halves
from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.tables import ALL
from darksecrets.syntax.treebank import ROOT, Sentence, word_class

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

BLOCK = 64
"""Sentences of a block."""


@dataclass(frozen=True)
class Pairs:
    """All pairs of words of a block; those of a word with itself, too.

    Attributes:
        sentences: Which sentences of the treebank.
        words: [sentences] number of words.
        halves: [sentences] 0 for sentences that select, 1 for those that score.
        sentence: [pairs] number of the sentence in the block.
        half: [pairs] half of the sentence.
        distance: [pairs] place of the second word, minus that of the first.
        tags: [pairs] number of the combination of distance and both parts of speech.
        rank: [pairs] number of the combination of the second word's class and of its number among
            the words of this class on its side of the first.
        key: [pairs] number of the second word, over all sentences of the block.
        apart: [pairs] whether the words share no piece.
        label: [pairs] number of the label if the second word is the head of the first; else −1.
        labels: Names of the labels.
        longest: Most words of a sentence of the treebank.
    """

    sentences: range
    words: Numbers
    halves: Numbers
    sentence: Numbers
    half: Numbers
    distance: Numbers
    tags: Numbers
    rank: Numbers
    key: Numbers
    apart: Flags
    label: Numbers
    labels: tuple[str, ...]
    longest: int

    def arcs(self, label: str) -> Flags:
        """[pairs] the dependents with a label and their heads, if they are apart."""
        if label == ALL:
            return self.apart & (self.label >= 0)
        found: Flags = self.apart & (self.label == self.labels.index(label))
        return found

    def guessed(self, guesses: Sequence[Guess]) -> Numbers:
        """[words, ...] number of the pair of every word and its guess.

        Args:
            guesses: For each sentence of the treebank, [words, ...], see `guesses.guesses`. No
                guess counts as the word itself, which is no pair of any relation.
        """
        found, first = [], 0
        for number in self.sentences:
            guess = guesses[number]
            own = np.arange(len(guess)).reshape(-1, *[1] * (guess.ndim - 1))
            found.append(first + len(guess) * own + np.where(guess < 0, own, guess))
            first += len(guess) ** 2
        return np.concatenate(found)

    def sums(self, weights: npt.NDArray[np.generic]) -> Floats:
        """[sentences] sum of weights of pairs over those of each sentence."""
        counts = np.bincount(self.sentence, weights.astype(np.float64), len(self.words))
        return counts.astype(np.float64)

    def found(self, weights: npt.NDArray[np.generic], guessed: Numbers, half: int) -> Floats:
        """[sentences, ...] sum of the weights of the pairs that words and their guesses are.

        Args:
            weights: [pairs], 0 for sentences of the other half.
            guessed: [words, ...] from `guessed`.
            half: The half whose sentences may have weights.
        """
        sums = np.zeros((len(self.words), *guessed.shape[1:]))
        own = self.halves == half
        if own.any():
            rows = guessed[np.repeat(own, self.words)]
            first = np.cumsum(self.words[own]) - self.words[own]
            sums[own] = np.add.reduceat(weights[rows].astype(np.float64), first, axis=0)
        return sums


@dataclass(frozen=True)
class Treebank:
    """The sentences that models read, with what is known of all of them together.

    Attributes:
        read: The sentences.
        halves: [sentences] 0 for a random half of them, which selects, and 1 for the other.
        labels: Names of the labels.
        tags: Names of the parts of speech.
        longest: Most words of a sentence.
        kinds: Sorted numbers of the combinations of distance and both parts of speech that occur.
    """

    read: Sequence[Read]
    halves: Numbers
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    longest: int
    kinds: Numbers

    @classmethod
    def of(cls, read: Sequence[Read], seed: int) -> Treebank:
        """Split sentences into halves at random, and look at all pairs of words once."""
        labels = tuple(sorted({label for each in read for label in each.sentence.labels}))
        tags = tuple(sorted({tag for each in read for tag in each.sentence.tags}))
        longest = max(len(each.sentence) for each in read)
        kinds = np.zeros(0, dtype=np.int64)
        found = cls(read, halves(read, seed), labels, tags, longest, kinds)
        for start in range(0, len(read), BLOCK):
            own = [each.sentence for each in read[start : start + BLOCK]]
            kinds = np.union1d(kinds, found._kinds(own, *_places(own)[1:]))
        return cls(read, found.halves, labels, tags, longest, kinds)

    def blocks(self) -> Iterator[Pairs]:
        """The pairs of all sentences, block by block, in the treebank's order."""
        for start in range(0, len(self.read), BLOCK):
            yield self._block(range(start, min(start + BLOCK, len(self.read))))

    def _block(self, sentences: range) -> Pairs:
        read = self.read[sentences.start : sentences.stop]
        own = [each.sentence for each in read]
        words = np.array([len(each) for each in own])
        sentence, row, column = _places(own)
        first = (np.cumsum(words) - words)[sentence]
        half = self.halves[sentences.start : sentences.stop]
        return Pairs(
            sentences,
            words,
            half,
            sentence,
            half[sentence],
            column - row,
            np.searchsorted(self.kinds, self._kinds(own, row, column)),
            np.concatenate([self._ranks(each) for each in own]),
            first + column,
            np.concatenate([each.apart.ravel() for each in read]),
            self._labelled(own),
            self.labels,
            self.longest,
        )

    def _kinds(self, own: Sequence[Sentence], row: Numbers, column: Numbers) -> Numbers:
        """[pairs] distance and both parts of speech as a number."""
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        tags = np.array([numbers[tag] for each in own for tag in each.tags])
        words = np.array([len(each) for each in own])
        first = np.repeat(np.cumsum(words) - words, words**2)
        distance = column - row + self.longest
        both = (distance * len(numbers) + tags[first + row]) * len(numbers) + tags[first + column]
        found: Numbers = both
        return found

    @property
    def ranks(self) -> int:
        """Number of combinations of `Pairs.rank`."""
        return (2 * self.longest + 1) * len(self.classes)

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes of words."""
        return tuple(sorted({word_class(tag) for tag in self.tags}))

    def _ranks(self, own: Sentence) -> Numbers:
        """[pairs] see `Pairs.rank`, of one sentence."""
        classes = self.classes
        tags = np.array([classes.index(word_class(tag)) for tag in own.tags])
        same = tags[:, None] == tags  # [word, word of the tag]
        before = (np.cumsum(same, axis=0) - same).astype(np.int64)  # [first, second]
        number = np.diagonal(before)
        after = np.arange(len(own)) > np.arange(len(own))[:, None]
        rank = np.where(after, number - before - same + 1, number - before)
        found: Numbers = ((rank + self.longest) * len(classes) + tags).ravel()
        return found

    def _labelled(self, own: Sequence[Sentence]) -> Numbers:
        """[pairs] number of the label of a word and its head; −1 for other pairs."""
        numbers = {label: number for number, label in enumerate(self.labels)}
        found = np.full(sum(len(each) ** 2 for each in own), -1)
        first = 0
        for each in own:
            for word, (head, label) in enumerate(zip(each.heads, each.labels, strict=True)):
                if head != ROOT:
                    found[first + word * len(each) + head] = numbers[label]
            first += len(each) ** 2
        return found


def _places(own: Sequence[Sentence]) -> tuple[Numbers, Numbers, Numbers]:
    """[pairs] number of the sentence, of the first word in it, and of the second word in it."""
    words = np.array([len(each) for each in own])
    size = words**2
    sentence = np.repeat(np.arange(len(own)), size)
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    row, column = np.divmod(within, words[sentence])
    return sentence, row, column


def halves(read: Sequence[Read], seed: int) -> Numbers:
    """[sentences] 0 for a random half of the sentences, which selects, and 1 for the other."""
    half: Numbers = stratified_halves(np.zeros(len(read)), np.random.default_rng(seed))
    return half
