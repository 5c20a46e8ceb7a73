"""All pairs of words of a treebank.

Pairs are numbered: sentence by sentence, then by the first word. What is counted of a head are
pairs of a word and its guess, with weights that depend on the treebank only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from darksecrets.beyond.syntax.declared import ALL
from darksecrets.beyond.syntax.measure.guesses import Guess, Read
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.data.treebank import word_class
from darksecrets.core.stats.resampling import stratified_halves

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """All pairs of words; those of a word with itself, too.

    Attributes:
        words: [sentences] number of words.
        halves: [sentences] 0 for a random half of them, which selects, and 1 for the other, which
            scores.
        sentence: [pairs] number of the sentence.
        half: [pairs] half of the sentence.
        distance: [pairs] place of the second word, minus that of the first.
        tags: [pairs] number of the combination of distance and both parts of speech.
        rank: [pairs] number of the combination of the second word's class and of its number among
            the words of this class on its side of the first.
        key: [pairs] number of the second word, over all sentences.
        apart: [pairs] whether the words share no piece.
        label: [pairs] number of the label if the second word is the head of the first; else −1.
        labels: Names of the labels.
    """

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

    @classmethod
    def of(cls, read: Sequence[Read], seed: int) -> Pairs:
        """Split sentences into halves at random, and list their pairs."""
        sentences = [each.sentence for each in read]
        words = np.array([len(each) for each in sentences])
        split = halves(read, seed)
        labels = tuple(sorted({label for each in sentences for label in each.labels}))
        sentence, row, column = _places(words)
        first = (np.cumsum(words) - words)[sentence]
        return cls(
            words=words,
            halves=split,
            sentence=sentence,
            half=split[sentence],
            distance=column - row,
            tags=_tags(sentences, column - row, first + row, first + column),
            rank=_ranks(sentences),
            key=first + column,
            apart=np.concatenate([each.apart.ravel() for each in read]),
            label=_labelled(sentences, labels),
            labels=labels,
        )

    def arcs(self, label: str) -> Flags:
        """[pairs] the dependents with a label and their heads, if they are apart."""
        if label == ALL:
            return self.apart & (self.label >= 0)
        found: Flags = self.apart & (self.label == self.labels.index(label))
        return found

    def guessed(self, guesses: Sequence[Guess]) -> Numbers:
        """[words, ...] number of the pair of every word and its guess.

        Args:
            guesses: For each sentence, [words, ...], see `guesses.guesses`. No guess counts as the
                word itself, which is no pair of any relation.
        """
        found = []
        first = 0
        for guess in guesses:
            own = np.arange(len(guess)).reshape(-1, *[1] * (guess.ndim - 1))
            found.append(first + len(guess) * own + np.where(guess < 0, own, guess))
            first += len(guess) ** 2
        return np.concatenate(found)

    def sums(self, weights: npt.NDArray[np.generic], half: int) -> Floats:
        """[sentences of the half] sum of weights of pairs over those of each sentence."""
        counts = np.bincount(self.sentence, weights.astype(np.float64), len(self.words))
        return counts[self.halves == half].astype(np.float64)

    def found(self, weights: npt.NDArray[np.generic], guessed: Numbers, half: int) -> Floats:
        """[sentences of the half, ...] sum of weights of the pairs of words and their guesses.

        Args:
            weights: [pairs].
            guessed: [words, ...] from `guessed`.
            half: The half whose sentences count.
        """
        own = self.halves == half
        rows = guessed[np.repeat(own, self.words)]
        first = np.cumsum(self.words[own]) - self.words[own]
        return np.add.reduceat(weights[rows].astype(np.float64), first, axis=0)


def _places(words: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """[pairs] number of the sentence, of the first word in it, and of the second word in it."""
    size = words**2
    sentence = np.repeat(np.arange(len(words)), size)
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    row, column = np.divmod(within, words[sentence])
    return sentence, row, column


def _tags(
    sentences: Sequence[Sentence], distance: Numbers, first: Numbers, second: Numbers
) -> Numbers:
    """[pairs] see `Pairs.tags`, from the numbers of both words over all sentences."""
    _, tags = np.unique([tag for each in sentences for tag in each.tags], return_inverse=True)
    kinds = tags.max() + 1
    combined = ((distance - distance.min()) * kinds + tags[first]) * kinds + tags[second]
    _, numbers = np.unique(combined, return_inverse=True)
    found: Numbers = numbers
    return found


def _ranks(sentences: Sequence[Sentence]) -> Numbers:
    """[pairs] see `Pairs.rank`."""
    classes = sorted({word_class(tag) for each in sentences for tag in each.tags})
    longest = max(len(each) for each in sentences)
    found = []
    for sentence in sentences:
        own = np.array([classes.index(word_class(tag)) for tag in sentence.tags])
        same = own[:, None] == own  # [word, word of the class]
        before = (np.cumsum(same, axis=0) - same).astype(np.int64)  # [first, second]
        number = np.diagonal(before)
        after = np.arange(len(own)) > np.arange(len(own))[:, None]
        rank = np.where(after, number - before - same + 1, number - before)
        found.append(((rank + longest) * len(classes) + own).ravel())
    return np.concatenate(found)


def _labelled(sentences: Sequence[Sentence], labels: Sequence[str]) -> Numbers:
    """[pairs] number of the label of a word and its head; −1 for other pairs."""
    numbers = {label: number for number, label in enumerate(labels)}
    found = []
    for sentence in sentences:
        own = np.full((len(sentence), len(sentence)), -1)
        for word, (head, label) in enumerate(zip(sentence.heads, sentence.labels, strict=True)):
            if head != ROOT:
                own[word, head] = numbers[label]
        found.append(own.ravel())
    return np.concatenate(found)


def halves(read: Sequence[Read], seed: int) -> Numbers:
    """[sentences] 0 for a random half of the sentences, which selects, and 1 for the other."""
    half: Numbers = stratified_halves(np.zeros(len(read)), np.random.default_rng(seed))
    return half
