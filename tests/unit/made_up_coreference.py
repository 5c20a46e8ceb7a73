"""Heads that know nothing of coreference, or all, on texts of the grammar."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from darksecrets.syntax.antecedents import Resolved, counted, join, resolve
from darksecrets.syntax.coreference import Expression, Text
from darksecrets.syntax.coreference_tables import PROPER

Floats = npt.NDArray[np.float64]
Head = Callable[[Sequence[Expression], np.random.Generator], Floats]
"""[expression, expression] weights of a head in a text."""


def first(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """The first expression of the text."""
    return np.tile(np.arange(len(found), 0, -1.0), (len(found), 1))


def last(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """The last one before."""
    return np.tile(np.arange(len(found), dtype=float), (len(found), 1))


def names(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """Any proper noun."""
    proper = np.array([each.kind == PROPER for each in found])
    return proper + 0.5 * rng.random((len(found), len(found)))


def most_frequent(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """The word that the text has most often, wherever it is."""
    counts = Counter(each.head for each in found)
    often = np.array([counts[each.head] for each in found], dtype=float)
    return often + 0.1 * rng.random((len(found), len(found)))


def column(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """The same expression from everywhere, a random one in each text."""
    return np.tile(rng.random(len(found)), (len(found), 1))


def five_words_before(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """Whatever is nearest to five words before."""
    words = np.array([each.word for each in found])
    return -np.abs(words[:, None] - words - 5.0)


def noise(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """Anything."""
    return rng.random((len(found), len(found)))


def knowing(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """What refers to the same, and a little else."""
    entities = np.array([each.entity for each in found])
    return (entities[:, None] == entities) + 1.1 * rng.random((len(found), len(found)))


def right(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """What refers to the same."""
    entities = np.array([each.entity for each in found])
    return np.asarray(entities[:, None] == entities, dtype=float)


IGNORANT: tuple[Head, ...] = (
    *(first, last, names, most_frequent),
    *(column, five_words_before, noise, noise),
)


def read_by(heads: Sequence[Head], texts: Sequence[Text], rng: np.random.Generator) -> Resolved:
    """What an encoder of one layer with these heads finds."""
    parts, counts = [], counted(texts)
    for number, text in enumerate(texts):
        found = text.expressions
        weights = np.stack([head(found, rng) for head in heads])[None]
        parts.append(resolve(number, found, weights, counts))
    return join(parts)
