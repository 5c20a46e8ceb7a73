"""Made-up texts with related tokens or equal words, and heads for them (sections 4.5 and 5)."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from adversarial import maps
from adversarial.maps import NOUN, OTHER, PRONOUN, PUNCTUATION, SPECIAL, VERB, Head, Text
from darksecrets.core.attention.store import AttentionStore, write_store
from darksecrets.paper.features.labels import FEATURES, RELATIONS
from darksecrets.paper.features.measuring import measure
from darksecrets.paper.features.tokens import Tokens

Pairs = npt.NDArray[np.int64]

NONE: Pairs = np.empty((0, 2), dtype=np.int64)
RELATION = "pronoun to noun"


def save(
    folder: Path, every: list[npt.NDArray[np.floating]], windows: tuple[int | None, ...] = ()
) -> AttentionStore:
    """Write maps, [layer, head, query, key] of each text, to a store."""
    examples = pd.DataFrame(
        {"idx": range(len(every)), "tokens": [["w"] * one.shape[-1] for one in every]}
    )
    for name in ("segments", "special", "starts", "ends"):
        examples[name] = [[0] * one.shape[-1] for one in every]
    with write_store(folder, examples, *every[0].shape[:2], windows) as writer:
        for one in every:
            writer.append(one)
    return AttentionStore.open(folder)


def _tags(usable: maps.Mask, rng: np.random.Generator) -> list[str]:
    kinds = [PRONOUN, NOUN, VERB, OTHER, PUNCTUATION]
    drawn = rng.choice(kinds, size=len(usable), p=[0.15, 0.3, 0.2, 0.3, 0.05])
    return np.where(usable, drawn, SPECIAL).tolist()


def sentence(idx: int, length: int, rng: np.random.Generator) -> tuple[Text, Tokens]:
    """A sentence in which every pronoun stands for the nearest noun before it."""
    usable = np.isin(np.arange(length), range(1, length - 1))
    text = maps.written(_tags(usable, rng), rng)
    nouns = np.flatnonzero(text.nouns)
    pairs = [
        (p, nouns[nouns < p].max()) for p in np.flatnonzero(text.pronouns) if (nouns < p).any()
    ]
    related = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return text, _tokens(idx, text, related, NONE)


def two_sentences(idx: int, length: int, rng: np.random.Generator) -> tuple[Text, Tokens]:
    """Two sentences that have two words in common, about as far from their ends."""
    middle = length // 2 + int(rng.integers(-1, 2))
    usable = ~np.isin(np.arange(length), [0, middle, length - 1])
    first, second = np.arange(1, middle), np.arange(middle + 1, length - 1)
    own = rng.permutation(len(first))[:2]
    there = (own + 0.5) / len(first) * len(second) + rng.normal(scale=0.7, size=2)
    other = np.clip(there.astype(np.int64), 0, len(second) - 1)
    if other[0] == other[1]:
        other[1] = (other[1] + 1) % len(second)
    equal = np.stack([first[own], second[other]], axis=1)
    segments = (np.arange(length) > middle).astype(np.int64)
    both = np.concatenate([equal, equal[:, ::-1]])
    text = maps.written(_tags(usable, rng), rng, segments.tolist())
    words, tags = list(text.words), list(text.tags)
    for one, same in equal.tolist():
        words[same], tags[same] = words[one], tags[one]
    text = Text(words, tags, text.counts, text.segments)
    return text, _tokens(idx, text, NONE, both)


def _tokens(idx: int, text: Text, related: Pairs, equal: Pairs) -> Tokens:
    of_relation = tuple(related if name == RELATION else NONE for name in RELATIONS)
    features = np.zeros((len(text.words), len(FEATURES)), dtype=np.bool_)
    features[0, -2] = features[-1, -1] = True
    for name, tag in (("noun", NOUN), ("verb", VERB), ("pronoun", PRONOUN)):
        features[:, FEATURES.index(name)] = text.tagged(tag)
    words = np.unique(text.words, return_inverse=True)[1]
    letters = [[ord(word[0]), ord(word[-1])] if word else [-1, -1] for word in text.words]
    forms = np.column_stack([text.lengths, text.frequency, letters])
    segments = np.array(text.segments or [0] * len(words))
    return Tokens(idx, segments, ~text.usable, features, of_relation, equal, words, forms)


def planted(text: Text, pairs: Pairs, rng: np.random.Generator, weight: float = 0.5) -> maps.Map:
    """Noise; some of the weight of the first token of a pair goes to the second."""
    a = maps.noise(text, rng)
    for query, key in pairs.tolist():
        a[query] *= 1 - weight
        a[query, key] += weight
    return a


def measured(
    folder: Path,
    table: str,
    rng: np.random.Generator,
    heads: list[Head],
    weights: list[float],
    texts: int = 80,
) -> pd.DataFrame:
    """Measure heads on made-up texts.

    Args:
        folder: Where to write their maps; must not exist.
        table: `token_pairs` or `equal_words`.
        rng: Source of randomness.
        heads: Heads that know nothing of the pairs; all are in one layer.
        weights: Of further heads that do, see `planted`.
        texts: How many.
    """
    make = sentence if table == "token_pairs" else two_sentences
    every, tokens = [], []
    lengths = sorted(rng.integers(9, 20, size=texts).tolist(), reverse=True)
    for idx, length in enumerate(lengths):
        text, one = make(idx, length, rng)
        pairs = one.pairs[RELATIONS.index(RELATION)] if table == "token_pairs" else one.equal
        own = [head(text, rng) for head in heads]
        own += [planted(text, pairs, rng, weight) for weight in weights]
        every.append(np.array(own)[None].astype(np.float16))
        tokens.append(one)
    return measure(save(folder, every), tokens, int(rng.integers(2**31)))[table]
