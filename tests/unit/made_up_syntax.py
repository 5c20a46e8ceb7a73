"""Heads with a known rule on sentences that ship: what they would guess."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from shipped_sentences import draw_sentences, draw_stories

from darksecrets.beyond.syntax.measure.coreference import Text, texts_of
from darksecrets.beyond.syntax.measure.guesses import Guess, Read
from darksecrets.core.data.sentences import ROOT, Sentence

Rule = Callable[[np.random.Generator, Sentence], npt.NDArray[np.int64]]
"""The word that every word of a sentence attends to; itself for none."""


def read(sentences: int, seed: int) -> list[Read]:
    """Sentences that a tokenizer leaves whole: every word is apart from all others."""
    trees = draw_sentences(sentences, seed)
    return [Read(each, ~np.eye(len(each), dtype=bool)) for each in trees]


def story_texts(texts: int, seed: int) -> list[Text]:
    """Stories, with what their expressions refer to."""
    return texts_of(draw_stories(texts, seed))


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
