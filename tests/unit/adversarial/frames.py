"""Made-up sentences with frame-semantic links, and heads for them (section 4.2)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from adversarial import maps
from adversarial.maps import NOUN, OTHER, PRONOUN, SPECIAL, VERB, Head, Text
from darksecrets.paper.framenet.heads import Link, LinksByLength, Sentence, measure, tables

VOCABULARY = 30
"""Words of `alike`: its heads treat each in the same way in all sentences."""


def sentence(rng: np.random.Generator) -> tuple[Text, list[Link]]:
    """A sentence whose links lie as FrameNet's do: often from the first word, to the last ones."""
    count = int(rng.integers(6, 13))
    first = 1 if rng.random() < 0.58 else int(rng.integers(2, count - 3))
    last = count - 1 if rng.random() < 0.59 and count - 1 > first + 2 else None
    predicate = last or int(rng.integers(first + 3, count + 1))
    tags = rng.choice([PRONOUN, NOUN, VERB, OTHER], size=count + 2, p=[0.2, 0.3, 0.2, 0.3])
    if rng.random() < 0.5:
        tags[first] = PRONOUN  # elements often are
    if rng.random() < 0.5:
        tags[predicate] = VERB
    tags[[0, -1]] = SPECIAL
    text = maps.written(tags.tolist(), rng)
    return text, [(np.array([first]), np.array([predicate]))]


def planted(
    text: Text,
    links: list[Link],
    rng: np.random.Generator,
    share: float = 2 / 3,
    weight: float = 0.5,
) -> maps.Map:
    """Noise; in a share of the sentences, some of the weight follows the link both ways."""
    a = maps.noise(text, rng)
    if rng.random() < share:
        for element, predicate in links:
            for query, key in ((element, predicate), (predicate, element)):
                a[query] *= 1 - weight
                a[query[:, None], key] += weight / len(key)
    return a


def corpus(
    rng: np.random.Generator,
    heads: list[Head],
    plants: list[tuple[float, float]],
    sentences: int = 60,
) -> list[Sentence]:
    """Sentences with the maps of the heads, in one layer, then those of planted heads.

    Args:
        rng: Source of randomness.
        heads: Heads that follow no link.
        plants: Share and weight of each head that does, see `planted`.
        sentences: How many.
    """
    made = []
    for _ in range(sentences):
        text, links = sentence(rng)
        every = [head(text, rng) for head in heads]
        every += [planted(text, links, rng, *plant) for plant in plants]
        made.append(Sentence(np.array(every)[None].astype(np.float16), links, text.usable))
    return made


def alike(rng: np.random.Generator, heads: int = 40, sentences: int = 60) -> list[Sentence]:
    """Random weights: the score of two words is random, but the same in every sentence."""
    return [sentence for sentence, _ in alike_with_words(rng, heads, sentences)]


def alike_with_words(
    rng: np.random.Generator, heads: int = 40, sentences: int = 60
) -> list[tuple[Sentence, npt.NDArray[np.int64]]]:
    """The same, with the words of every sentence, [L]."""
    scores = 1.5 * rng.standard_normal((1, heads, VOCABULARY, VOCABULARY))
    made = []
    for _ in range(sentences):
        text, links = sentence(rng)
        words = rng.choice(VOCABULARY, size=len(text.usable))
        if rng.random() < 0.5:
            words[links[0][0]], words[links[0][1]] = 0, rng.choice(3)  # "he", a few verbs
        weights = np.exp(scores[:, :, words[:, None], words])
        a = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float16)
        made.append((Sentence(a, links, text.usable, str(words[links[0][0][0]])), words))
    return made


def measured(sentences: list[Sentence], draws: int, seed: int) -> pd.DataFrame:
    """The table of heads of `darksecrets.paper.framenet.heads` of these sentences."""
    return tables(measure(together(sentences)), draws=draws, seed=seed)[0]


def together(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences, each with the links of all with as many tokens."""
    by_length: dict[int, list[list[Link]]] = {}
    for one in sentences:
        by_length.setdefault(len(one.usable), []).append(list(one.links))
    alike = {length: LinksByLength.of(links) for length, links in by_length.items()}
    return [replace(one, alike=alike[len(one.usable)]) for one in sentences]
