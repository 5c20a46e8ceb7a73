"""A sentence with its words, its dependency tree and its mentions."""

from __future__ import annotations

from dataclasses import dataclass

ROOT = -1
"""Head of the word that has none."""


@dataclass(frozen=True)
class Mention:
    """An expression that refers to something: a pronoun, or a noun with all that depends on it.

    Attributes:
        start: Its first word.
        end: The word after its last.
        head: Its head word.
        entity: Number of what it refers to; mentions of a sentence with the same number corefer.
        gaps: Words between first and last that are not part of it.
        features: Person, number and gender of its head word, if the source annotates them.
    """

    start: int
    end: int
    head: int
    entity: int
    gaps: tuple[int, ...] = ()
    features: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sentence:
    """A sentence and its tree. Words count from 0; all tuples but ``mentions`` have one item each.

    Attributes:
        name: What the source calls the sentence.
        document: Number of its document; the sentences of one follow each other.
        text: As it is written; what a model reads.
        words: Its words.
        starts: First character of each in the text; the parts of a contraction may share theirs.
        ends: The character after the last.
        heads: Head of each word; `ROOT` for exactly one.
        labels: Label of the dependency of each word on its head.
        tags: Part of speech of each word.
        mentions: By their head words; None if the source does not annotate them.
        features: Morphological features of each word, such as `Number=Plur|Tense=Past`; none at
            all if the source does not annotate them.
    """

    name: str
    document: int
    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    mentions: tuple[Mention, ...] | None = None
    features: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Number of words."""
        return len(self.words)
