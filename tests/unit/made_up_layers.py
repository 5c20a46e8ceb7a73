"""States of words in which it is known what stands."""

import numpy as np

from darksecrets.beyond.layers.measure.probing import training_groups
from darksecrets.beyond.layers.measure.properties import Property
from darksecrets.beyond.layers.measure.states import WordStates
from darksecrets.core.data.sentences import ROOT, Sentence


def random_tree(words: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Heads of words: each depends on one that was drawn before it, in random places."""
    order = rng.permutation(words)
    heads = np.full(words, ROOT)
    for number in range(1, words):
        heads[order[number]] = order[rng.integers(number)]
    return tuple(heads.tolist())


def sentence(words: list[str], heads: tuple[int, ...], tags: list[str] | None = None) -> Sentence:
    """A sentence of these words."""
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])]).tolist()
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    labels = ["root" if head == ROOT else "dep" for head in heads]
    return Sentence(
        name="",
        document=0,
        text=" ".join(words),
        words=tuple(words),
        starts=tuple(starts),
        ends=tuple(ends),
        heads=heads,
        labels=tuple(labels),
        tags=tuple(tags or ["X"] * len(words)),
    )


def trees(number: int, longest: int, seed: int = 0) -> list[Sentence]:
    """Sentences of random words with random trees."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(6, longest + 1, size=number).tolist()
    return [
        sentence([f"w{n}" for n in rng.integers(50, size=words)], random_tree(words, rng))
        for words in lengths
    ]


def states_of(sentences: list[Sentence], layers: list[np.ndarray]) -> WordStates:
    """States [words, size] of every layer as those of sentences."""
    starts = np.cumsum([0, *map(len, sentences)])
    return WordStates(list(range(len(sentences))), starts, np.stack(layers).astype(np.float16))


def planted(
    classes: int = 3,
    words: int = 1800,
    *,
    layer: int | None = 2,
    by_type: bool = False,
    strength: float = 4.0,
    seed: int = 0,
) -> Property:
    """A property of words of 200 sentences, which is written into one of four layers, or none.

    Args:
        classes: Number of classes.
        words: Number of words.
        layer: Where it is written; None for nowhere.
        by_type: Whether every layer has the word type, and the class depends on it alone.
        strength: Length of what is written.
        seed: Seed of all.
    """
    rng = np.random.default_rng(seed)
    types = rng.integers(60, size=words)
    labels = rng.integers(classes, size=words)
    states = rng.standard_normal((4, words, 24))
    if by_type:
        labels = rng.integers(classes, size=60)[types]
        states = 0.1 * states + rng.standard_normal((60, 24))[types]
    if layer is not None:
        states[layer] += strength * rng.standard_normal((classes, 24))[labels] / 24**0.5
    return Property(
        name="part of speech",
        states=states.astype(np.float16),
        items=np.arange(words),
        others=None,
        labels=labels,
        classes=tuple("abcdefgh"[:classes]),
        groups=np.sort(rng.integers(200, size=words)),
        types=types,
    )


def training_of(found: Property, seed: int = 1) -> np.ndarray:
    """[items] which items of a property are for training."""
    return training_groups(int(found.groups.max()) + 1, seed)[found.groups]
