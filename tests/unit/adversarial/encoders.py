"""Made-up texts with features, and encoders that know nothing of them (section 4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adversarial.pairs import save
from darksecrets.paper.features.labels import FEATURES, WORD_FEATURES
from darksecrets.paper.features.measuring import measure
from darksecrets.paper.features.profiles import Collector, Profiles
from darksecrets.paper.features.tokens import Tokens

LAYERS, HEADS, WORDS = 6, 6, 24
CLS, SEP = WORDS, WORDS + 1
NOUN = WORD_FEATURES.index("noun")

Floats = npt.NDArray[np.float64]
Encoder = Callable[[npt.NDArray[np.int64]], Floats]
"""Makes maps [layer, head, L, L] of an example's words; rows need not sum to 1."""
Draw = Callable[[np.random.Generator], Encoder]
"""Draws an encoder."""


def softmax(scores: Floats) -> Encoder:
    """The score [layer, head, word, word] of two words is the same in every example."""
    return lambda words: np.exp(scores[:, :, words[:, None], words])


def scores(rng: np.random.Generator) -> Floats:
    return 1.5 * rng.standard_normal((LAYERS, HEADS, WORDS + 2, WORDS + 2))


def random_weights(rng: np.random.Generator) -> Encoder:
    return softmax(scores(rng))


def fixed_places(rng: np.random.Generator) -> Encoder:
    """Every head attends to one place, drawn for the head: the third word, the last but two."""
    places = rng.integers(-4, 4, size=(LAYERS, HEADS))
    return lambda words: _stripes(places % len(words), len(words))


def _stripes(places: npt.NDArray[np.int64], length: int) -> Floats:
    return np.broadcast_to(np.eye(length)[places][:, :, None], (LAYERS, HEADS, length, length))


def one_class(rng: np.random.Generator) -> Encoder:
    """Every head attends to a few words, drawn for the head, wherever they are."""
    weights = 0.01 + 10.0 * (rng.random((LAYERS, HEADS, WORDS + 2)) < 0.25)
    return lambda words: np.repeat(weights[:, :, None, words], len(words), axis=2)


def uniform(_: np.random.Generator) -> Encoder:
    return lambda words: np.ones((LAYERS, HEADS, len(words), len(words)))


def anew(rng: np.random.Generator) -> Encoder:
    """Scores are drawn anew in every example: two such encoders are equal models."""
    return lambda words: np.exp(1.5 * rng.standard_normal((LAYERS, HEADS, len(words), len(words))))


UNRELATED: dict[str, Draw] = {
    "random weights": random_weights,
    "one place per head": fixed_places,
    "a few words per head": one_class,
}
"""Encoders of one kind are unrelated: what they have in common, they have by chance."""


@dataclass(frozen=True)
class Corpus:
    """Examples whose words have the same features everywhere; nouns are common, as in texts.

    Attributes:
        nouns: [words + 2] which words are nouns; the last two are [CLS] and [SEP].
        tokens: Features of the examples.
        words: [L] words of each example.
    """

    nouns: npt.NDArray[np.bool_]
    tokens: list[Tokens]
    words: list[npt.NDArray[np.int64]]

    @classmethod
    def draw(cls, rng: np.random.Generator, examples: int = 16) -> Corpus:
        rates = [0.4, 0.25, 0.1, 0.15, 0.15, 0.1, 0.1]
        of_word = rng.random((WORDS, len(WORD_FEATURES))) < rates
        of_word[:2] = np.arange(of_word.shape[1]) != NOUN, np.arange(of_word.shape[1]) == NOUN
        tokens, texts = [], []
        for idx, length in enumerate(sorted(rng.integers(9, 12, examples), reverse=True)):
            words = np.r_[CLS, rng.integers(WORDS, size=length - 2), SEP]
            if idx == 0:
                words[1:3] = 0, 1  # so that every feature has a token, not all of them nouns
            features = np.zeros((length, len(FEATURES)), dtype=np.bool_)
            features[1:-1, :-2] = of_word[words[1:-1]]
            features[0, -2] = features[-1, -1] = True
            special = np.isin(np.arange(length), [0, length - 1])
            none = np.empty((0, 2), dtype=np.int64)
            zeros = np.zeros(length, dtype=np.int64)
            tokens.append(
                Tokens(idx, zeros, special, features, (none,) * 4, none, zeros, zeros[:, None])
            )
            texts.append(words)
        return cls(np.r_[of_word[:, NOUN], False, False], tokens, texts)

    def profiles(self, encoder: Encoder, folder: Path) -> Profiles:
        """What an encoder gives to each feature; its maps are written to a new folder."""
        maps = [encoder(words) for words in self.words]
        half = [(m / m.sum(axis=-1, keepdims=True)).astype(np.float16) for m in maps]
        collector = Collector()
        measure(save(folder, half), self.tokens, 0, collector=collector)
        return collector.profiles()
