"""Sentences with dependency trees: what one is, the file of a run, and those of the grammar.

A treebank is a file with a JSON object per line, a sentence each. Its trees come from the built-in
grammar, from a CoNLL-U file or from a spaCy pipeline; see `syntax.sources`.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from darksecrets.data.builtin import grammar
from darksecrets.data.builtin.documents import documents
from darksecrets.run.files import atomic

ROOT = -1
"""Head of the word that has none."""

_UNIVERSAL = frozenset(
    {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON"}
) | {"PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"}
"""Parts of speech of CoNLL-U files; other sources have Penn tags."""
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_PRONOUNS = frozenset({"PRP", "PRP$"})


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

    def __len__(self) -> int:
        """Number of words."""
        return len(self.words)


def word_class(tag: str) -> str:
    """The class of words of a part of speech: NN, NNS, NNP and NNPS are one; so are names."""
    if tag in _UNIVERSAL:
        return "NOUN" if tag == "PROPN" else tag
    return tag[:2]


def write(sentences: Iterable[Sentence], path: Path) -> None:
    """Write a treebank, atomically."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for sentence in sentences:
            stream.write(json.dumps(asdict(sentence), ensure_ascii=False) + "\n")


def read(path: Path) -> list[Sentence]:
    """Read a treebank that `write` wrote."""
    with path.open(encoding="utf-8") as stream:
        return [_sentence(json.loads(line)) for line in stream]


def _sentence(fields: Mapping[str, Any]) -> Sentence:
    found = fields["mentions"]
    mentions = None if found is None else tuple(Mention(**_tuples(each)) for each in found)
    return Sentence(**{**_tuples(fields), "mentions": mentions})


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Values of JSON, whose lists are tuples."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }


# ------------------------------------------------------------------------------ built-in sentences


def builtin(sentences: int, seed: int) -> list[Sentence]:
    """Sentences of the built-in grammar with their gold trees and mentions, no two alike.

    Each is a random one of another text, as the sentences of a text depend on each other. They are
    like the sentences that the tiny BERT was pre-trained on, but drawn anew; a few short ones are
    the same.

    Args:
        sentences: How many.
        seed: Determines which.
    """
    return list(itertools.islice(_fresh(seed), sentences))


def _fresh(seed: int) -> Iterator[Sentence]:
    """Sentences without end, each text once."""
    rng, seen = random.Random(f"treebank|{seed}"), set[str]()
    for number in itertools.count():
        (document,) = documents(1, seed, f"treebank|{number}")
        sentence = rng.choice(document)
        if sentence.text not in seen:
            seen.add(sentence.text)
            yield from_grammar(sentence, str(len(seen)), len(seen) - 1)


def from_grammar(sentence: grammar.Sentence, name: str, document: int) -> Sentence:
    """A sentence of the grammar in this module's form.

    Its mentions are all pronouns and nouns, except those within names, such as *David* in *David
    Montgomery*. Only mentions that the grammar made corefer do.
    """
    tokens = sentence.tokens
    heads = tuple(ROOT if token.head == place else token.head for place, token in enumerate(tokens))
    return Sentence(
        name=name,
        document=document,
        text=sentence.text,
        words=tuple(token.text for token in tokens),
        starts=tuple(token.start for token in tokens),
        ends=tuple(token.end for token in tokens),
        heads=heads,
        labels=tuple(token.dep for token in tokens),
        tags=tuple(token.tag for token in tokens),
        mentions=_mentions(tokens, heads),
    )


def _mentions(tokens: Sequence[grammar.Token], heads: Sequence[int]) -> tuple[Mention, ...]:
    """Mentions by their head words; each refers to what its antecedent refers to."""
    referring = [
        place
        for place, token in enumerate(tokens)
        if token.tag in _NOUNS | _PRONOUNS and token.dep != "compound"
    ]
    entities: dict[int, int] = {}
    for place in referring:  # an antecedent precedes its pronoun
        earlier = tokens[place].antecedent
        entities[place] = len(set(entities.values())) if earlier is None else entities[earlier]
    below = spans(heads, [token.dep == "punct" for token in tokens])
    return tuple(Mention(*below[place], place, entities[place]) for place in referring)


def spans(heads: Sequence[int], left_out: Sequence[bool]) -> list[tuple[int, int]]:
    """First word, and the word after the last, of every word with all that depends on it.

    Args:
        heads: See `Sentence`.
        left_out: Words that are not part of the spans of others, such as punctuation.
    """
    first, last = list(range(len(heads))), list(range(len(heads)))
    for word in range(len(heads)):
        above = heads[word]
        while above != ROOT and not left_out[word]:
            first[above], last[above] = min(first[above], word), max(last[above], word)
            above = heads[above]
    return [(start, end + 1) for start, end in zip(first, last, strict=True)]
