"""What probes are to read from states: a label for every word, arc, token or example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from darksecrets.beyond.layers import declared
from darksecrets.beyond.layers.measure.states import ExampleStates, WordStates
from darksecrets.core.arrays import Flags, Halves, Integers, Singles
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.data.treebank import word_class

FURTHEST = 4
"""Distances from a word to its head beyond this are one class for each side."""
PLACES = 10
"""Places in the sentence that are asked for; later words are left out."""
FEWEST = 20
"""Items of a class in the training sentences, and a tenth in the others; smaller ones are left
out."""

_NUMBERS = {"NN": "Sing", "NNP": "Sing", "NNS": "Plur", "NNPS": "Plur"}
_TENSES = {"VBD": "Past", "VBZ": "Pres", "VBP": "Pres"}
_PENN = {"Number": _NUMBERS, "Tense": _TENSES}
"""Features of words by their Penn tags, where the treebank has these and no features."""


@dataclass(frozen=True)
class Property:
    """The labels of items, and the states from which they are to be read.

    Attributes:
        name: One of `declared.PROPERTIES`.
        states: [layers + 1, rows, size] of all words, tokens or examples.
        items: [items] the row of each item.
        others: [items] the row of the other word of an arc; None for single words.
        labels: [items] number of the class.
        classes: Names of the classes.
        groups: [items] sentence, or example, of each item: what is drawn and split.
        types: [items] number of the word type of each; None for examples.
        left_out: Classes that are too rare.
    """

    name: str
    states: Halves
    items: Integers
    others: Integers | None
    labels: Integers
    classes: tuple[str, ...]
    groups: Integers
    types: Integers | None
    left_out: tuple[str, ...] = ()

    def features(self, layer: int) -> Singles:
        """[items, size] what a probe reads: a state; of arcs, [x, y, x ∘ y] (Liu et al. 2019)."""
        own = self.states[layer][self.items].astype(np.float32)
        if self.others is None:
            return own
        other = self.states[layer][self.others].astype(np.float32)
        return np.concatenate([own, other, own * other], axis=1)

    def of(self, kept: Flags) -> Property:
        """Some of the items."""
        return replace(
            self,
            items=self.items[kept],
            others=None if self.others is None else self.others[kept],
            labels=self.labels[kept],
            groups=self.groups[kept],
            types=None if self.types is None else self.types[kept],
        )


def word_types(states: WordStates, sentences: Sequence[Sentence]) -> Integers:
    """[words] number of each word's type, in lower case."""
    read = [sentences[number] for number in states.sentences]
    words = [word.lower() for sentence in read for word in sentence.words]
    return np.unique(words, return_inverse=True)[1].astype(np.int64)


def word_properties(states: WordStates, sentences: Sequence[Sentence]) -> list[Property]:
    """What is known of the words of a treebank; properties that it does not mark are left out."""
    read = [sentences[number] for number in states.sentences]
    types = word_types(states, sentences)
    heads = _rows_of_heads(states, read)
    labels: dict[str, Sequence[str | None]] = {
        declared.POSITION: _positions(read),
        declared.TAG: [word_class(tag) for sentence in read for tag in sentence.tags],
        declared.NUMBER: _features(read, "Number"),
        declared.TENSE: _features(read, "Tense"),
        declared.RELATION: [
            None if head == ROOT else label.partition(":")[0]
            for sentence in read
            for head, label in zip(sentence.heads, sentence.labels, strict=True)
        ],
        declared.DISTANCE: _distances(read),
    }
    found = []
    for name, texts in labels.items():
        items = np.array([row for row, text in enumerate(texts) if text is not None], np.int64)
        if not len(items):
            continue
        classes, numbers = np.unique([str(texts[row]) for row in items], return_inverse=True)
        found.append(
            Property(
                name=name,
                states=states.states,
                items=items,
                others=heads[items] if name == declared.RELATION else None,
                labels=numbers.astype(np.int64),
                classes=tuple(classes.tolist()),
                groups=states.sentence[items],
                types=types[items],
            )
        )
    return found


def example_properties(
    states: ExampleStates, labels: Integers, classes: Sequence[str]
) -> list[Property]:
    """The labels of a task's examples from [CLS]; and, of pairs, the sentence of a token."""
    examples = np.arange(len(labels))
    label = Property(
        name=declared.LABEL,
        states=states.first,
        items=examples,
        others=None,
        labels=labels,
        classes=tuple(classes),
        groups=examples,
        types=None,
    )
    if not states.segment.any():
        return [label]
    segment = Property(
        name=declared.SENTENCE,
        states=states.tokens,
        items=np.arange(len(states.segment)),
        others=None,
        labels=states.segment,
        classes=("first", "second"),
        groups=states.example,
        types=states.piece,
    )
    return [label, segment]


def leave_out_rare_classes(found: Property, training: Flags) -> Property | None:
    """Leave out classes that are too rare to learn, or to score; None if fewer than two are left.

    Args:
        found: The property.
        training: [items] which items a probe is trained on.
    """
    many = Counter(found.labels[training].tolist())
    others = Counter(found.labels[~training].tolist())
    kept = [
        number
        for number in range(len(found.classes))
        if many[number] >= FEWEST and others[number] >= FEWEST / 10
    ]
    if len(kept) < 2:
        return None
    new = np.full(len(found.classes), -1)
    new[kept] = np.arange(len(kept))
    rare = [name for number, name in enumerate(found.classes) if number not in kept]
    some = found.of(new[found.labels] >= 0)
    return replace(
        some,
        labels=new[some.labels],
        classes=tuple(found.classes[number] for number in kept),
        left_out=tuple(rare),
    )


def _rows_of_heads(states: WordStates, read: Sequence[Sentence]) -> Integers:
    """[words] the row of the head of each; its own for a root."""
    rows = [
        start + (place if head == ROOT else head)
        for start, sentence in zip(states.starts.tolist(), read, strict=False)
        for place, head in enumerate(sentence.heads)
    ]
    return np.array(rows, dtype=np.int64)


def _positions(read: Sequence[Sentence]) -> list[str | None]:
    """The place of every word in its sentence, from 1; None beyond `PLACES`."""
    return [
        f"{place:02}" if place <= PLACES else None
        for sentence in read
        for place in range(1, len(sentence) + 1)
    ]


def _distances(read: Sequence[Sentence]) -> list[str | None]:
    """The distance from every word to its head, at most `FURTHEST`; None for roots."""
    return [
        None if head == ROOT else f"{max(-FURTHEST, min(FURTHEST, head - place)):+}"
        for sentence in read
        for place, head in enumerate(sentence.heads)
    ]


def _features(read: Sequence[Sentence], name: str) -> list[str | None]:
    """A morphological feature of every word; None for words that have none."""
    found: list[str | None] = []
    for sentence in read:
        if not sentence.features:
            found += [_PENN[name].get(tag) for tag in sentence.tags]
            continue
        for features in sentence.features:
            marked = dict(pair.split("=", 1) for pair in features.split("|") if pair)
            found.append(marked.get(name))
    return found
