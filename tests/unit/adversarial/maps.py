"""Heads that know nothing of meaning, to try inferences on: none may pass more often than chance.

Each looks at one place, one class of words or one distance, or is noise, or mixes some of these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LONGEST = 64
"""Tokens that a text may have."""

Map = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Text:
    """L tokens; the first is [CLS], and the last is [SEP].

    Attributes:
        usable: [L] which are words.
        pronouns: [L] which are pronouns.
        nouns: [L] which are nouns.
        frequent: [L] which of them are the most frequent noun of the texts.
    """

    usable: Mask
    pronouns: Mask
    nouns: Mask
    frequent: Mask

    @property
    def words(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(self.usable)


Head = Callable[[Text, np.random.Generator], Map]
"""Makes a map [L, L] whose rows sum to 1."""


def stripe(keys: npt.NDArray[np.integer], length: int) -> Map:
    """All tokens attend to some keys; to [CLS] if there are none."""
    a = np.zeros((length, length))
    a[:, keys if len(keys) else [0]] = 1 / max(len(keys), 1)
    return a


def to(keys: Callable[[Text], npt.NDArray[np.integer]]) -> Head:
    """All tokens attend to the same ones."""
    return lambda text, _: stripe(keys(text), len(text.usable))


def offset(distance: int) -> Head:
    """Attend at one distance; beyond the ends, to [CLS] or [SEP]."""

    def make(text: Text, rng: np.random.Generator) -> Map:
        length = len(text.usable)
        return np.eye(length)[np.clip(np.arange(length) + distance, 0, length - 1)]

    return make


def far_left(text: Text, rng: np.random.Generator) -> Map:
    """Attend to all tokens at least three back, each with the same weight, else to [CLS]."""
    length = len(text.usable)
    a = np.tri(length, k=-3) / length
    a[:, 0] += 1 - a.sum(axis=1)
    return a


def far_right(text: Text, rng: np.random.Generator) -> Map:
    return far_left(text, rng)[::-1, ::-1]


def pronouns_attend(text: Text, rng: np.random.Generator) -> Map:
    """Pronouns attend to all tokens alike, others to [CLS]."""
    length = len(text.usable)
    a = stripe(np.array([0]), length)
    a[text.pronouns] = 1 / length
    return a


def noise(text: Text, rng: np.random.Generator) -> Map:
    """An encoder with random weights: the softmax of random scores."""
    scores = np.exp(2 * rng.standard_normal((len(text.usable), len(text.usable))))
    return scores / scores.sum(axis=1, keepdims=True)


def product(queries: Callable[[Text], Mask], keys: Callable[[Text], Mask], reach: Mask) -> Head:
    """Some tokens attend to some tokens at some distances; what is left goes to [CLS].

    Args:
        queries: Which tokens attend so.
        keys: Which they attend to.
        reach: [2 * LONGEST + 1] at which distances, from -LONGEST; 0 is in the middle.
    """

    def make(text: Text, rng: np.random.Generator) -> Map:
        places = np.arange(len(text.usable))
        near = reach[places - places[:, None] + LONGEST]
        a = (queries(text)[:, None] & keys(text) & near).astype(np.float64)
        a /= np.maximum(a.sum(axis=1, keepdims=True), 1)
        a[:, 0] += 1 - a.sum(axis=1)
        return a

    return make


def mixture(*heads: Head) -> Head:
    def make(text: Text, rng: np.random.Generator) -> Map:
        return np.mean([head(text, rng) for head in heads], axis=0)

    return make


SIMPLE: dict[str, Head] = {
    "first word": to(lambda text: text.words[:1]),
    "last word but one": to(lambda text: text.words[-2:-1]),
    "any pronoun": to(lambda text: np.flatnonzero(text.pronouns)),
    "all nouns": to(lambda text: np.flatnonzero(text.nouns)),
    "most frequent noun": to(lambda text: np.flatnonzero(text.frequent)),
    "one noun": to(lambda text: np.flatnonzero(text.nouns)[:1]),
    "[CLS]": to(lambda _: np.array([0])),
    "uniform": to(lambda text: np.arange(len(text.usable))),
    "pronouns attend": pronouns_attend,
    "far left": far_left,
    "far right": far_right,
    **{f"offset {d:+}": offset(d) for d in range(-3, 4)},
}
MIXED: dict[str, Head] = {
    f"{one} and {other}": mixture(SIMPLE[one], SIMPLE[other])
    for one in ("first word", "last word but one", "any pronoun", "all nouns", "pronouns attend")
    for other in ("far left", "far right", "offset -3", "offset +3")
}
_DISTANCES = np.arange(-LONGEST, LONGEST + 1)
_SIDES = {
    "to the left": _DISTANCES < 0,
    "to the right": _DISTANCES > 0,
    "three to the left": _DISTANCES == -3,
    "three to the right": _DISTANCES == 3,
}
_ANY: Callable[[Text], Mask] = lambda text: text.usable  # noqa: E731
PRODUCTS: dict[str, Head] = {
    **{
        f"to pronouns {side}": product(_ANY, lambda text: text.pronouns, reach)
        for side, reach in _SIDES.items()
    },
    **{
        f"pronouns attend {side}": product(lambda text: text.pronouns, _ANY, reach)
        for side, reach in _SIDES.items()
    },
}
"""A class of words times a distance: no sum of effects."""

ADVERSARIES = SIMPLE | MIXED | {f"product: {name}": head for name, head in PRODUCTS.items()}
"""Heads of which it is known that they follow no link. `noise` varies from draw to draw."""

SUMS_OF_PRODUCTS: dict[str, Head] = {
    f"{one}, and {other}": mixture(PRODUCTS[one], PRODUCTS[other])
    for one, other in (
        ("to pronouns to the left", "pronouns attend to the right"),
        ("pronouns attend to the left", "to pronouns three to the right"),
    )
}
"""Neither a sum nor a product of effects: a known limit of the tests of links and pairs."""


def heads(text: Text, rng: np.random.Generator, noises: int = 0) -> npt.NDArray[np.float16]:
    """[1, heads, L, L] all adversaries in order, then heads of noise, in half precision."""
    maps = [head(text, rng) for head in (*ADVERSARIES.values(), *[noise] * noises)]
    return np.array(maps)[None].astype(np.float16)
