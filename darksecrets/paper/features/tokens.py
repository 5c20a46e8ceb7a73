"""Annotation of the tokens of an example: their features, and which pairs are related."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from darksecrets.core.arrays import Flags, Integers
from darksecrets.core.attention.store import Maps
from darksecrets.core.data.alignment import overlaps
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.controls import frequency_classes
from darksecrets.paper.features import labels
from darksecrets.paper.features.annotated import Examples

COMPARED, INITIAL, FINAL = slice(0, 2), slice(2, 3), slice(3, 4)
"""Columns of `Tokens.forms`: length and frequency, the first letter, the last one."""

Pairs = Integers
Words = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Tokens:
    """The L tokens of one example.

    Attributes:
        idx: The data set's number of the example.
        segments: [L] sentence of each token, 0 or 1.
        special: [L] whether a token is a special one.
        features: [L, features] whether a token has each of `FEATURES`.
        pairs: For each of `RELATIONS`, [pairs, 2] query and key positions.
        equal: [pairs, 2] word pieces of a word that is in both sentences, in both directions.
        words: [L] number of the word of each token, the same for equal words; −1 of none.
        forms: [L, 4] its number of characters, its class of frequency, and the code points of its
            first and of its last character; −1 of none.
    """

    idx: int
    segments: Integers
    special: Flags
    features: Flags
    pairs: tuple[Pairs, ...]
    equal: Pairs
    words: Integers
    forms: Integers


def describe(maps: Maps, path: Path) -> Described:
    """Map the annotation of words to the tokens of the examples of some maps.

    Args:
        maps: Attention maps of the annotated examples.
        path: The annotation, see `darksecrets.paper.features.annotation`.

    Returns:
        The tokens of every example in the order of the maps. They can be iterated over repeatedly;
        each example is made on demand, so that memory holds only one.

    Raises:
        InputError: The annotation lacks an example.
    """
    annotated = Examples(path)
    if missing := [idx for idx in maps.idx.tolist() if idx not in annotated]:
        raise InputError(
            f"{path} lacks {len(missing)} examples of {maps.origin}, such as idx {missing[0]}. "
            "Remove both and run again."
        )
    return Described(maps, annotated)


@dataclass(frozen=True)
class Described(Iterable[Tokens]):
    """The tokens of every example of some maps, see `describe`.

    Attributes:
        maps: Attention maps of the examples.
        annotated: The annotation of each example by its ``idx``. Of an example without sentences
            in its annotation, only the special tokens are known.
    """

    maps: Maps
    annotated: Mapping[int, Mapping[str, Any]]

    @property
    def has_words(self) -> bool:
        """Whether the words of any example are annotated."""
        return any(len(one) > 1 for one in self.annotated.values())

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word occurs in the examples, in lower case."""
        every = (self.annotated[idx] for idx in self.maps.idx.tolist())
        sentences = (s["tokens"] for one in every for name, s in one.items() if name != "idx")
        return Counter(word["text"].lower() for words in sentences for word in words)

    def __iter__(self) -> Iterator[Tokens]:
        maps = self.maps
        for example, idx in enumerate(maps.idx.tolist()):
            annotated = self.annotated[idx]
            sentences = [s["tokens"] for name, s in annotated.items() if name != "idx"]
            layout = maps.offsets(example), maps.segments(example), maps.special(example)
            yield describe_example(idx, sentences, *layout, self.counts)


def describe_example(
    idx: int,
    sentences: Sequence[Words],
    offsets: Integers,
    segments: Integers,
    special: Flags,
    counts: Mapping[str, int],
) -> Tokens:
    """Map the annotation of one example to its tokens by their characters.

    A word piece has the features of every word with which it shares a character.

    Args:
        idx: The data set's number of the example.
        sentences: The words of each sentence.
        offsets: [L, 2] characters of each token in its sentence.
        segments: [L] sentence of each token.
        special: [L] whether a token is a special one; the first special one is [CLS].
        counts: How often each word occurs in all examples, in lower case.
    """
    length = len(segments)
    features = np.zeros((length, len(labels.FEATURES)), dtype=np.bool_)
    features[:, -1] = special
    features[0, -2:] = special[0], False
    related = np.zeros((len(labels.RELATIONS), length, length), dtype=np.bool_)
    pieces = []
    for number, words in enumerate(sentences):
        spans = np.array([[word["start"], word["end"]] for word in words]).reshape(-1, 2)
        word_overlaps = overlaps(offsets, segments, special, number, spans)
        features[:, :-2] |= word_overlaps @ labels.word_features(words)
        for relation, (first, second) in enumerate((verbs_and_subjects(words), nouns(words))):
            pairs = word_overlaps[:, first] @ word_overlaps[:, second].T
            related[2 * relation] |= pairs
            related[2 * relation + 1] |= pairs.T
        pieces.append(word_overlaps)
    related &= ~np.eye(length, dtype=np.bool_)  # a word piece that overlaps two words
    pairs_of = tuple(np.argwhere(matrix) for matrix in related)
    equal = _equal(sentences, pieces)
    forms = _forms(sentences, pieces, counts, length)
    return Tokens(idx, segments, special, features, pairs_of, equal, *forms)


def _forms(
    sentences: Sequence[Words], pieces: Sequence[Flags], counts: Mapping[str, int], length: int
) -> tuple[Integers, Integers]:
    """[L] words and [L, 4] forms of tokens; of several words of a token, the first counts."""
    written = [word["text"].lower() for words in sentences for word in words]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(written))}
    classes = frequency_classes([counts[word] for word in numbers])
    rows = [
        (number, len(word), classes[number], ord(word[0]), ord(word[-1]))
        for word, number in numbers.items()
    ]
    word_rows = np.array([*(rows[numbers[word]] for word in written), (-1,) * 5])
    belongs = np.concatenate([*pieces, np.ones((length, 1))], axis=1)
    found = word_rows[belongs.argmax(axis=1)]
    return found[:, 0], found[:, 1:]


def verbs_and_subjects(words: Words) -> tuple[list[int], list[int]]:
    """Numbers of verbs, and of a subject of each; subjects of other words are left out."""
    found = [
        (word["head"], number)
        for number, word in enumerate(words)
        if labels.is_subject(word["dep"]) and words[word["head"]]["tag"] in labels.VERBS
    ]
    return [verb for verb, _ in found], [subject for _, subject in found]


def nouns(words: Words) -> tuple[list[int], list[int]]:
    """Numbers of pronouns, and of the noun that each stands for."""
    found = [(n, w["antecedent"]) for n, w in enumerate(words) if w["antecedent"] is not None]
    return [pronoun for pronoun, _ in found], [noun for _, noun in found]


def _equal(sentences: Sequence[Words], pieces: Sequence[Flags]) -> Pairs:
    """Pair the word pieces of words that are in both sentences, in order: first with first, etc.

    Case is ignored, and so is punctuation.
    """
    found: list[tuple[int, int]] = []
    if len(sentences) == 2:
        for (one, first), (two, second) in itertools.product(*map(enumerate, sentences)):
            if _same(first, second):
                places = (
                    np.flatnonzero(of[:, n]) for of, n in zip(pieces, (one, two), strict=True)
                )
                for a, b in zip(*places, strict=False):  # a truncated word has fewer pieces
                    found += [(int(a), int(b)), (int(b), int(a))]
    return np.array(sorted(set(found)), dtype=np.int64).reshape(-1, 2)


def _same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    text: str = first["text"]
    return not labels.is_punctuation(first["dep"]) and text.lower() == second["text"].lower()
