"""Maps drawn at random, for the network to learn from what the features say of them (section 4.1).

A thousand labelled maps are of a few encoders, and a network that only knows these takes what their
maps have in common for the classes: on an encoder that it has not seen, it is far worse than the
regression on features, whose numbers mean the same on every map. Drawn maps need no encoder and no
label: the regression labels them, and the network learns its answers on maps of all lengths and
kinds. They are mixtures of one to three ingredients, whose shares differ from row to row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Generator = np.random.Generator

LENGTHS = (6, 128)
"""Shortest and longest map, in tokens; logarithms of lengths are equally likely."""
PAIRS = 0.6
"""Share of maps of two sentences."""
MOST = 3
"""Ingredients of a map at most."""
OFFSETS = {-3: 0.04, -2: 0.08, -1: 0.24, 0: 0.28, 1: 0.24, 2: 0.08, 3: 0.04}
"""Distances of a diagonal from the main one, and how likely each is."""
WIDTHS = (0.2, 0.6, 1.2, 2.5)
"""Distances in tokens at which a diagonal has faded to 1/e."""
_LEAST = 1e-4  # weight of cells that an ingredient leaves empty
_ROWS = 0.3  # standard deviation of the logarithm of an ingredient's share, over rows
_SHORTEST_PAIR = 9  # tokens


@dataclass(frozen=True)
class Tokens:
    """The tokens of a map.

    Attributes:
        special: [L] whether each is a special token.
        sentence: [L] 0 or 1.
    """

    special: npt.NDArray[np.bool_]
    sentence: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.special)

    @classmethod
    def draw(cls, rng: Generator) -> Tokens:
        """One sentence or two, with special tokens as in BERT's inputs."""
        shortest, longest = np.log(LENGTHS)
        length = int(np.exp(rng.uniform(shortest, longest)))
        special, sentence = np.zeros(length, dtype=bool), np.zeros(length, dtype=np.int64)
        special[[0, -1]] = True
        if length >= _SHORTEST_PAIR and rng.random() < PAIRS:
            end = rng.integers(3, length - 4)
            special[end] = True
            sentence[end + 1 :] = 1
        return cls(special, sentence)


@dataclass(frozen=True)
class DrawnMap:
    """A map.

    Attributes:
        weights: [L, L] half precision; rows sum to 1.
        special: A digit per token, 1 for special tokens.
        segments: A digit per token: sentence 0 or 1.
    """

    weights: npt.NDArray[np.float16]
    special: str
    segments: str


def draw(count: int, seed: int) -> list[DrawnMap]:
    """Draw maps."""
    rng = np.random.default_rng(seed)
    return [_draw_map(rng) for _ in range(count)]


def _draw_map(rng: Generator) -> DrawnMap:
    tokens = Tokens.draw(rng)
    likelihoods = np.array(list(INGREDIENTS.values()))
    chosen = rng.choice(
        np.array(list(INGREDIENTS), dtype=object),
        size=rng.integers(1, MOST + 1),
        replace=False,
        p=likelihoods / likelihoods.sum(),
    )
    parts = np.stack([_as_rows(ingredient(tokens, rng)) for ingredient in chosen])
    shares = rng.dirichlet(np.full(len(parts), 0.8))[:, None, None]
    shares = shares * np.exp(rng.normal(0, _ROWS, size=(len(parts), len(tokens), 1)))
    weights = _as_rows((parts * shares).sum(axis=0))
    if rng.random() < 0.5:  # noise
        weights = weights * _scatter(tokens, rng, 0.8)
    if rng.random() < 0.4:  # as a softmax at another temperature
        weights = weights ** np.exp(rng.uniform(-0.7, 0.7))
    digits = ["".join(map(str, flags.astype(int))) for flags in (tokens.special, tokens.sentence)]
    return DrawnMap(_as_rows(weights).astype(np.float16), *digits)


def _as_rows(weights: Floats) -> Floats:
    """Weights whose rows sum to 1; a row of zeros becomes uniform."""
    sums = weights.sum(axis=1, keepdims=True)
    return np.where(sums > 0, weights / np.where(sums > 0, sums, 1), 1 / weights.shape[1])


def _scatter(tokens: Tokens, rng: Generator, most: float) -> Floats:
    """[L, L] factors around 1, up to some standard deviation of their logarithm."""
    return np.exp(rng.normal(0, rng.uniform(0, most), size=(len(tokens),) * 2))


def special_columns(tokens: Tokens, rng: Generator) -> Floats:
    """Attention to special tokens."""
    columns = np.zeros(len(tokens))
    columns[tokens.special] = rng.dirichlet(np.full(tokens.special.sum(), 0.6))
    return np.tile(columns, (len(tokens), 1))


def columns_of_any_token(tokens: Tokens, rng: Generator) -> Floats:
    """Attention to one to three tokens, whichever they are."""
    chosen = rng.choice(len(tokens), size=rng.integers(1, 4), replace=False)
    columns = np.zeros(len(tokens))
    columns[chosen] = rng.dirichlet(np.ones(len(chosen)))
    return np.tile(columns, (len(tokens), 1))


def diagonals(tokens: Tokens, rng: Generator) -> Floats:
    """Attention to the token itself or its neighbours: one line or two, narrow or wide."""
    places = np.arange(len(tokens))
    distances = places[None, :] - places[:, None]
    width = rng.choice(WIDTHS)
    offsets = rng.choice(
        list(OFFSETS), size=rng.integers(1, 3), replace=False, p=list(OFFSETS.values())
    )
    lines = [
        rng.uniform(0.3, 1) * np.exp(-np.abs(distances - offset) / width) for offset in offsets
    ]
    return np.asarray(sum(lines), dtype=np.float64)


def blocks(tokens: Tokens, rng: Generator) -> Floats:
    """Attention within one's own sentence, with its special tokens or without them."""
    within = tokens.sentence[None, :] == tokens.sentence[:, None]
    if rng.random() < 0.5:
        within = within & ~tokens.special[None, :]
    return (within + _LEAST) * _scatter(tokens, rng, 0.6)


def nearly_uniform(tokens: Tokens, rng: Generator) -> Floats:
    """Attention to everything."""
    return _scatter(tokens, rng, 0.5)


def random_head(tokens: Tokens, rng: Generator) -> Floats:
    """The softmax of products of random queries and keys, from pale to sharp."""
    size = rng.integers(2, 17)
    queries, keys = rng.normal(size=(2, len(tokens), size))
    scores = queries @ keys.T / np.sqrt(size) * rng.uniform(0.2, 4)
    return np.asarray(np.exp(scores - scores.max(axis=1, keepdims=True)), dtype=np.float64)


def related_words(tokens: Tokens, rng: Generator) -> Floats:
    """Single pairs of words that attend to each other."""
    count = rng.integers(1, max(2, len(tokens) // 3))
    some, others = rng.integers(len(tokens), size=(2, count))
    weights = np.full((len(tokens),) * 2, _LEAST)
    weights[some, others] = weights[others, some] = 1
    return weights


def part_of_a_column(tokens: Tokens, rng: Generator) -> Floats:
    """Attention of some consecutive tokens to one."""
    start = rng.integers(len(tokens))
    end = rng.integers(start, len(tokens)) + 1
    weights = np.full((len(tokens),) * 2, _LEAST)
    weights[start:end, rng.integers(len(tokens))] = 1
    return weights


INGREDIENTS: dict[Callable[[Tokens, Generator], Floats], float] = {
    special_columns: 0.25,
    diagonals: 0.2,
    columns_of_any_token: 0.12,
    blocks: 0.12,
    random_head: 0.12,
    nearly_uniform: 0.08,
    part_of_a_column: 0.06,
    related_words: 0.05,
}
"""What maps are mixed of, and how often, chosen by hand once, without looking at any score."""
