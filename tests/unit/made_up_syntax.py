"""Heads with a known rule on the sentences of the built-in grammar: what they would guess."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch

from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.treebank import ROOT, Sentence, builtin
from darksecrets.syntax.words import WordMaps

Rule = Callable[[np.random.Generator, Sentence], npt.NDArray[np.int64]]
"""The word that every word of a sentence attends to; itself for none."""


def read(sentences: int, seed: int) -> list[Read]:
    """Sentences that a tokenizer leaves whole: every word is apart from all others."""
    return [Read(each, ~np.eye(len(each), dtype=bool)) for each in builtin(sentences, seed)]


def offset(distance: int) -> Rule:
    """Every word attends to the one at a distance; at the ends, to the nearest of these."""

    def rule(_: np.random.Generator, sentence: Sentence) -> npt.NDArray[np.int64]:
        return np.clip(np.arange(len(sentence)) + distance, 0, len(sentence) - 1)

    return rule


def place(number: int) -> Rule:
    """Every word attends to the first word, say, or the last but one."""

    def rule(_: np.random.Generator, sentence: Sentence) -> npt.NDArray[np.int64]:
        return np.full(len(sentence), number % len(sentence))

    return rule


def anywhere(rng: np.random.Generator, sentence: Sentence) -> npt.NDArray[np.int64]:
    """Every word attends to any other."""
    words = len(sentence)
    return (np.arange(words) + rng.integers(1, max(2, words), size=words)) % words


def one_tag(tag: str) -> Rule:
    """All words attend to the same word, one with this tag; else, to the first one."""

    def rule(rng: np.random.Generator, sentence: Sentence) -> npt.NDArray[np.int64]:
        found = [word for word, own in enumerate(sentence.tags) if own == tag] or [0]
        return np.full(len(sentence), rng.choice(found))

    return rule


def most_frequent_noun(sentences: Sequence[Sentence]) -> Rule:
    """All words attend to that noun of the sentence that is the most frequent in the treebank."""
    counts = Counter(
        word.lower()
        for each in sentences
        for word, tag in zip(each.words, each.tags, strict=True)
        if tag.startswith("NN")
    )

    def rule(_: np.random.Generator, sentence: Sentence) -> npt.NDArray[np.int64]:
        best = max(range(len(sentence)), key=lambda word: counts[sentence.words[word].lower()])
        return np.full(len(sentence), best)

    return rule


def relation(label: str, share: float = 1.0) -> Rule:
    """Dependents with the label attend to their heads, others (and a part of them) anywhere."""

    def rule(rng: np.random.Generator, sentence: Sentence) -> npt.NDArray[np.int64]:
        guess = anywhere(rng, sentence)
        for word, own in enumerate(sentence.labels):
            if own == label and sentence.heads[word] != ROOT and rng.random() < share:
                guess[word] = sentence.heads[word]
        return guess

    return rule


def guesses(read: Sequence[Read], rules: Sequence[Rule], rng: np.random.Generator) -> list[Guess]:
    """One layer with a head for every rule, the same in both directions."""
    found = []
    for each in read:
        of_heads = np.stack([rule(rng, each.sentence) for rule in rules], axis=-1)
        own = np.where(of_heads == np.arange(len(of_heads))[:, None], -1, of_heads)
        both: Guess = np.repeat(own[:, None, :, None], 2, axis=-1).astype(np.int16)
        found.append(both)
    return found


def word_maps(read: Sequence[Read], rules: Sequence[Rule], rng: np.random.Generator) -> WordMaps:
    """One layer with a head for every rule: most weight where it says, some anywhere."""
    size = max(len(each.sentence) for each in read)
    maps = np.zeros((len(read), 1, len(rules), size, size))
    apart = np.zeros((len(read), size, size), dtype=bool)
    for own, flags, each in zip(maps[:, 0], apart, read, strict=True):
        words = len(each.sentence)
        flags[:words, :words] = each.apart
        own[:, :words, :words] = rng.random((len(rules), words, words))
        for head, rule in enumerate(rules):
            if rule is not anywhere:
                own[head, np.arange(words), rule(rng, each.sentence)] += 2
    return WordMaps([*range(len(read))], torch.from_numpy(maps), torch.from_numpy(apart))
