"""The one registry of heads that know nothing of meaning, which every family of tests runs.

Each looks at one place, one class of words, one form of words or one distance, or is noise, or
mixes some of these: none may pass an inference more often than chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from zlib import crc32

import numpy as np
import numpy.typing as npt

LONGEST = 512
"""Greatest distance of `PRODUCTS`."""
PRONOUN, NOUN, VERB, PUNCTUATION, OTHER, SPECIAL = TAGS = ("PRON", "NOUN", "VERB", "PUNCT", "X", "")

Map = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Text:
    """L tokens; the first is [CLS], and the last is [SEP].

    Attributes:
        words: [L] the words, in lower case.
        tags: [L] one of `TAGS` for each; `SPECIAL` for no words.
        counts: How often words occur in all texts.
        segments: [L] 0 for the first sentence, 1 for the second.
    """

    words: Sequence[str]
    tags: Sequence[str]
    counts: Mapping[str, int] = field(default_factory=dict)
    segments: Sequence[int] = ()

    def tagged(self, tag: str) -> Mask:
        return np.array([own == tag for own in self.tags])

    @cached_property
    def usable(self) -> Mask:
        return ~self.tagged(SPECIAL)

    @cached_property
    def pronouns(self) -> Mask:
        return self.tagged(PRONOUN)

    @cached_property
    def nouns(self) -> Mask:
        return self.tagged(NOUN)

    @cached_property
    def places(self) -> Places:
        """Places of the words."""
        return np.flatnonzero(self.usable)

    @cached_property
    def lengths(self) -> Places:
        """[L] characters of each word, 0 for others."""
        return np.where(self.usable, [len(word) for word in self.words], 0)

    @cached_property
    def frequency(self) -> Places:
        """[L] counts of each word on a scale of powers of 2, 0 for others."""
        counts = [self.counts.get(word, 0) for word in self.words]
        return np.where(self.usable, 1 + np.rint(np.log2(np.add(counts, 1))).astype(int), 0)


Head = Callable[[Text, np.random.Generator], Map]
"""Makes a map [L, L] whose rows sum to 1."""

LEXICON = {
    tag: [f"{tag[0].lower()}{number}".ljust(2 + (5 * number) % 7, "x") for number in range(12)]
    for tag in TAGS
    if tag
}
"""Made-up words of every tag; the nth is a 1 / n part of them."""
_SHARES = 1 / np.arange(1, 13) / (1 / np.arange(1, 13)).sum()
_COUNTS = {
    word: round(1000 * share)
    for words in LEXICON.values()
    for word, share in zip(words, _SHARES, strict=True)
}


def written(tags: Sequence[str], rng: np.random.Generator, segments: Sequence[int] = ()) -> Text:
    """A text of made-up words with these tags."""
    words = ["" if tag == SPECIAL else str(rng.choice(LEXICON[tag], p=_SHARES)) for tag in tags]
    return Text(words, tags, _COUNTS, segments)


def rest_to_cls(scores: Map) -> Map:
    """Rows that sum to 1; those without any score attend to [CLS]."""
    a = scores / np.where(scores.any(axis=1), scores.sum(axis=1), 1)[:, None]
    a[:, 0] += 1 - a.sum(axis=1)
    return a


def stripe(keys: npt.NDArray[np.integer], length: int) -> Map:
    """All tokens attend to some keys; to [CLS] if there are none."""
    a = np.zeros((length, length))
    a[:, keys] = 1
    return rest_to_cls(a)


def to(keys: Callable[[Text], npt.NDArray[np.integer]]) -> Head:
    """All tokens attend to the same ones."""
    return lambda text, _: stripe(keys(text), len(text.usable))


def by_place(key: Callable[[Places, int], npt.NDArray[np.floating] | Places]) -> Head:
    """Each token attends to a place that follows from its own, and from the length."""

    def make(text: Text, rng: np.random.Generator) -> Map:
        length = len(text.usable)
        at = np.asarray(key(np.arange(length), length)).astype(np.int64)
        return np.eye(length)[np.clip(at, 0, length - 1)]

    return make


def offset(distance: int) -> Head:
    """Attend at one distance; beyond the ends, to [CLS] or [SEP]."""
    return by_place(lambda i, _: i + distance)


def farthest(i: Places, length: int) -> Places:
    """The first or the last word, whichever is farther."""
    return np.where(2 * i >= length, 1, length - 2)


def decay(reach: float) -> Head:
    def make(text: Text, rng: np.random.Generator) -> Map:
        places = np.arange(len(text.usable))
        return rest_to_cls(np.exp(-np.abs(places - places[:, None]) / reach))

    return make


def by_rank(tag: str, side: int, rank: int) -> Head:
    """Attend to a word of one tag: the nearest or farthest, before or after."""

    def make(text: Text, rng: np.random.Generator) -> Map:
        a = np.zeros((len(text.usable),) * 2)
        places = np.flatnonzero(text.tagged(tag))
        for i, row in enumerate(a):
            there = places[places < i][::-1] if side < 0 else places[places > i]
            row[there[rank : rank + 1] if rank >= 0 else there[-1:]] = 1
        return rest_to_cls(a)

    return make


def alike(what: Callable[[Text], Places], *, nearest: bool) -> Head:
    """Attend to the other words of the same form: to all of them, or to the nearest."""

    def make(text: Text, rng: np.random.Generator) -> Map:
        own, places = what(text), np.arange(len(text.usable))
        a = ((own == own[:, None]) & text.usable & text.usable[:, None]).astype(np.float64)
        np.fill_diagonal(a, 0)
        return rest_to_cls(a * (np.exp(-3.0 * np.abs(places - places[:, None])) if nearest else 1))

    return make


def comparing(
    what: Callable[[Text], Places], sign: int, side: int, *, nearest: bool, by: int | None = None
) -> Head:
    """Attend to words that compare with the own in one way: to all of them, or to the nearest.

    Args:
        what: What is compared, such as lengths.
        sign: 1 for words of more, −1 for words of less.
        side: 1 for words to the right, −1 to the left, 0 for both.
        nearest: Whether only to the nearest.
        by: How much more or less; None: any.
    """

    def make(text: Text, rng: np.random.Generator) -> Map:
        own, places = what(text), np.arange(len(text.usable))
        more, there = own - own[:, None], places - places[:, None]
        fits = (np.sign(more) == sign) if by is None else (more == sign * by)
        fits &= text.usable & text.usable[:, None] & (there != 0)
        fits &= (np.sign(there) == side) | (side == 0)
        if nearest:
            away = np.where(fits, np.abs(there), LONGEST)
            fits &= away == away.min(axis=1, keepdims=True)
        return rest_to_cls(fits.astype(np.float64))

    return make


def of_every_place(seed: int, *, by_length: bool) -> Head:
    """Each place attends to another one, in all texts alike or in those of the same length."""

    def make(text: Text, rng: np.random.Generator) -> Map:
        length = len(text.usable)
        own = np.random.default_rng([seed, length] if by_length else [seed])
        at = np.arange(length) + own.integers(-5, 6, size=LONGEST)[:length]
        return np.eye(length)[np.clip(at, 0, length - 1)]

    return make


def part_of_word(what: Callable[[str], int]) -> Head:
    """Attend to all words of which some part of the form is the same."""

    def make(text: Text, rng: np.random.Generator) -> Map:
        parts = np.array([what(word) if word else -1 for word in text.words])
        a = ((parts == parts[:, None]) & text.usable & text.usable[:, None]).astype(np.float64)
        np.fill_diagonal(a, 0)
        return rest_to_cls(a)

    return make


def scores_of_words(seed: int) -> Head:
    """Random weights without places: the score of two words is random, but always the same."""
    projection = np.random.default_rng(seed).standard_normal((16, 16)) / 4

    def make(text: Text, rng: np.random.Generator) -> Map:
        every = [np.random.default_rng([seed, crc32(word.encode())]) for word in text.words]
        vectors = np.array([own.standard_normal(16) for own in every])
        scores = np.exp(1.5 * (vectors @ projection @ vectors.T))
        return scores / scores.sum(axis=1, keepdims=True)

    return make


def other_sentence(place: Callable[[Map, int], Map]) -> Head:
    """Attend to the same place in the other sentence; with one sentence, in this one.

    Args:
        place: The place there, of the parts of this sentence before the middle of a token.
    """

    def make(text: Text, rng: np.random.Generator) -> Map:
        segments = np.array(text.segments or [0] * len(text.usable))
        a = np.zeros((len(segments),) * 2)
        words = [np.flatnonzero(text.usable & (segments == of)) for of in (0, 1)]
        for own, other in (words, words[::-1]):
            other = other if len(other) else own
            parts = (np.arange(len(own)) + 0.5) / max(1, len(own))
            there = np.asarray(place(parts, len(other))).astype(np.int64)
            if len(own):
                a[own, other[np.clip(there, 0, len(other) - 1)]] = 1
        return rest_to_cls(a)

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


def sentence_length(text: Text, rng: np.random.Generator) -> Map:
    """The shorter the sentence, the more of the weight goes to all words alike."""
    share = min(1, 5 / len(text.usable))
    return share * stripe(text.places, len(text.usable)) + (1 - share) * stripe(
        np.array([0]), len(text.usable)
    )


def noise(text: Text, rng: np.random.Generator) -> Map:
    """An encoder with random weights: the softmax of random scores."""
    scores = np.exp(2 * rng.standard_normal((len(text.usable), len(text.usable))))
    return scores / scores.sum(axis=1, keepdims=True)


def dirichlet(text: Text, rng: np.random.Generator) -> Map:
    """Each token attends to a few others, drawn anew in every text."""
    return rng.dirichlet(np.full(len(text.usable), 0.1), size=len(text.usable))


def most_frequent(text: Text, among: Mask) -> Places:
    """Where the most frequent of some words is."""
    if not among.any():
        return np.array([], dtype=np.int64)
    counts = np.array([text.counts.get(word, 0) for word in text.words])
    best = max(counts[among])
    return np.flatnonzero(among & (counts == best))


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
        return rest_to_cls((queries(text)[:, None] & keys(text) & near).astype(np.float64))

    return make


def mixture(*heads: Head, shares: Sequence[float] | None = None) -> Head:
    """Heads together, alike or with these shares."""

    def make(text: Text, rng: np.random.Generator) -> Map:
        return np.average([head(text, rng) for head in heads], axis=0, weights=shares)

    return make


_NAMES = {PRONOUN: "pronoun", NOUN: "noun", VERB: "verb"}
PLACES: dict[str, Head] = {
    "first word": to(lambda text: text.places[:1]),
    "last word": to(lambda text: text.places[-1:]),
    "last word but one": to(lambda text: text.places[-2:-1]),
    **{f"absolute place {n}": to(lambda text, n=n: text.places[n - 1 : n]) for n in (2, 3, 4, 5)},
    "mirrored place": by_place(lambda i, length: length - 1 - i),
    "mirrored place + 1": by_place(lambda i, length: length - i),
    "farthest word": by_place(farthest),
    "decay over 3": decay(3),
    "decay over 6": decay(6),
    **{f"offset {d:+}": offset(d) for d in range(-3, 4)},
    "far left": far_left,
    "far right": far_right,
    "uniform": to(lambda text: np.arange(len(text.usable))),
    "sentence length": sentence_length,
    "same relative place in the other sentence": other_sentence(lambda part, n: part * n),
    "the same, rounded": other_sentence(lambda part, n: np.rint(part * n - 0.5)),
    "the same, from [CLS]": other_sentence(
        lambda part, n: np.rint((part * len(part) + 0.5) / (len(part) + 1) * (n + 1)) - 1
    ),
    "same place in the other sentence": other_sentence(lambda part, _: part * len(part)),
}
"""Heads that know places, distances and lengths only."""
CLASSES: dict[str, Head] = {
    "any pronoun": to(lambda text: np.flatnonzero(text.pronouns)),
    "all nouns": to(lambda text: np.flatnonzero(text.nouns)),
    "one noun": to(lambda text: np.flatnonzero(text.nouns)[:1]),
    "first expression": to(lambda text: np.flatnonzero(text.nouns | text.pronouns)[:1]),
    "pronouns attend": pronouns_attend,
    "[CLS]": to(lambda _: np.array([0])),
    "[SEP]": to(lambda text: np.flatnonzero(~text.usable)[1:]),
    "punctuation": to(lambda text: np.flatnonzero(text.tagged(PUNCTUATION))),
    **{
        f"{rank} {_NAMES[tag]} {side}": by_rank(tag, sign, number)
        for tag in _NAMES
        for side, sign in (("before", -1), ("after", 1))
        for rank, number in (("nearest", 0), ("farthest", -1))
    },
}
"""Heads that know one part of speech."""
FORMS: dict[str, Head] = {
    "most frequent noun": to(lambda text: most_frequent(text, text.nouns)),
    "most frequent word": to(lambda text: most_frequent(text, text.usable)),
    "words of the same length": alike(lambda text: text.lengths, nearest=False),
    "nearest word of the same length": alike(lambda text: text.lengths, nearest=True),
    "words of the same frequency": alike(lambda text: text.frequency, nearest=False),
    "nearest word of the same frequency": alike(lambda text: text.frequency, nearest=True),
}
"""Heads that know how long and how frequent words are."""
SIMPLE: dict[str, Head] = PLACES | CLASSES | FORMS
_COMPARED = {
    "length": ("longer", "shorter", lambda text: text.lengths),
    "frequency": ("more frequent", "rarer", lambda text: text.frequency),
}
COMPARISONS: dict[str, Head] = {
    f"{'nearest' if nearest else 'all'} {name} words {where}": comparing(
        what, sign, side, nearest=nearest
    )
    for more, less, what in _COMPARED.values()
    for name, sign in ((more, 1), (less, -1))
    for where, side in (("to the left", -1), ("to the right", 1), ("on both sides", 0))
    for nearest in (True, False)
} | {
    f"nearest word longer by {by} {where}": comparing(
        lambda text: text.lengths, 1, side, nearest=True, by=by
    )
    for by in (1, 3)
    for where, side in (("to the left", -1), ("to the right", 1))
}
"""Heads that compare words with each other by their form."""
EVERY_PLACE: dict[str, Head] = {
    f"a random offset for every place{' and length' if by_length else ''} {seed}": of_every_place(
        seed, by_length=by_length
    )
    for by_length in (False, True)
    for seed in range(4)
}
"""Heads that attend by place without any rule."""
LETTERS: dict[str, Head] = {
    "words with the same first letter": part_of_word(lambda word: ord(word[0])),
    "words with the same last letter": part_of_word(lambda word: ord(word[-1])),
}
HASHES: dict[str, Head] = {
    f"words of the same of {buckets} random classes": part_of_word(
        lambda word, buckets=buckets: crc32(word.encode()) % buckets
    )
    for buckets in (5, 30)
}
"""Heads that see a part of a word's form that no control has."""
WORDS: dict[str, Head] = {
    f"random scores of words {seed}": scores_of_words(seed) for seed in range(4)
}
NOISES: dict[str, Head] = {"random weights": noise, "Dirichlet": dirichlet}
SOFT: dict[str, Head] = {
    f"{name}, over {name_of_rest}": mixture(head, rest, shares=(0.8, 0.2))
    for name, head in SIMPLE.items()
    for name_of_rest, rest in (("uniform", SIMPLE["uniform"]), ("noise", noise))
}
"""The same with some weight everywhere: no product of weights is 0."""
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

ADVERSARIES = SIMPLE | SOFT | MIXED | {f"product: {name}": head for name, head in PRODUCTS.items()}
"""Heads of which it is known that they follow no link."""


def halves(what: Callable[[Text], Places]) -> tuple[Callable[[Text], Mask], Callable[[Text], Mask]]:
    """The words of a text that have at most the median of something, and the others."""

    def few(text: Text) -> Mask:
        own = what(text)
        return text.usable & (own <= np.median(own[text.usable]))

    return few, lambda text: text.usable & ~few(text)


def opposite(what: Callable[[Text], Places], least: int) -> Head:
    """Words of one half attend to all words so far to the right, those of the other to the left."""
    few, many = halves(what)
    right, left = (least <= _DISTANCES, -least >= _DISTANCES)
    return mixture(product(few, _ANY, right), product(many, _ANY, left))


SUMS_OF_PRODUCTS: dict[str, Head] = {
    f"sum of products: {one}, and {other}": mixture(PRODUCTS[one], PRODUCTS[other])
    for one, other in (
        ("to pronouns to the left", "pronouns attend to the right"),
        ("pronouns attend to the left", "to pronouns three to the right"),
    )
} | {
    f"sum of products: {few} words at least {least} to the right, others to the left": opposite(
        what, least
    )
    for few, what in (
        ("short", lambda text: text.lengths),
        ("rare", lambda text: text.frequency),
        ("frequent", lambda text: -text.frequency),
    )
    for least in (1, 3)
}
"""Neither a sum nor a product of effects: two of the controls do not see them."""

IGNORANT = ADVERSARIES | SUMS_OF_PRODUCTS | COMPARISONS | EVERY_PLACE
"""All heads that pass no test, not even as often as its level says."""

OFFSET, MIXTURES = "one fixed offset (-3 to +3)", "mixtures of two of them"


def registry(noises: int) -> tuple[dict[str, Head], list[str]]:
    """All ignorant heads and several of each noise, by name; and the kind of each."""
    several = {f"{name} {n}": head for name, head in NOISES.items() for n in range(noises)}
    of = ADVERSARIES | SUMS_OF_PRODUCTS | several
    kinds = dict.fromkeys(MIXED, MIXTURES)
    kinds |= {name: OFFSET for name in PLACES if name.startswith("offset")}
    kinds |= {f"{name} {n}": name for name in NOISES for n in range(noises)}
    return of, [kinds.get(name, name) for name in of]


def planted(pairs: Mapping[int, Sequence[tuple[int, int]]], share: float, weight: float) -> Head:
    """Noise; in a share of the texts, some of the weight of a token goes to what it belongs to.

    Args:
        pairs: For each text, by its identity, queries and keys.
        share: Share of the texts.
        weight: Of the token's weight.
    """

    def make(text: Text, rng: np.random.Generator) -> Map:
        a = noise(text, rng)
        if rng.random() < share:
            for query, key in pairs[id(text)]:
                a[query] *= 1 - weight
                a[query, key] += weight
        return a

    return make


def heads(text: Text, rng: np.random.Generator, noises: int = 0) -> npt.NDArray[np.float16]:
    """[1, heads, L, L] `IGNORANT` in order, then heads of noise, in half precision."""
    several = [*[noise] * noises, *[dirichlet] * noises]
    maps = [head(text, rng) for head in (*IGNORANT.values(), *several)]
    return np.array(maps)[None].astype(np.float16)
