"""Texts in which pronouns and nouns refer, and simple ways to resolve them (Clark et al. 2019).

Of each expression that refers to something already mentioned, an earlier expression is chosen as
its antecedent. The choice is right if both refer to the same thing, as in the paper.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from darksecrets.beyond.syntax.declared import NOMINAL, PRONOUN, PROPER
from darksecrets.core.data.sentences import Mention, Sentence
from darksecrets.core.stats.units import first_of_each, numbered_texts

Places = npt.NDArray[np.int64]

_PROPER = frozenset({"NNP", "NNPS", "PROPN"})
_PRONOUNS = frozenset({"PRP", "PRP$", "PRON", "DET"})
_PLURAL = frozenset({"NNS", "NNPS"})
_SINGULAR = frozenset({"NN", "NNP"})

_AGREEMENT = {
    "first singular": "i me my mine myself",
    "first plural": "we us our ours ourselves",
    "second": "you your yours yourself yourselves",
    "third singular feminine": "she her hers herself",
    "third singular masculine": "he him his himself",
    "third singular neuter": "it its itself",
    "third plural": "they them their theirs themselves",
}
_OF_PRONOUNS = {
    word: frozenset(features.split())
    for features, words in _AGREEMENT.items()
    for word in words.split()
}
_EXCLUSIVE = (
    frozenset({"first", "second", "third"}),
    frozenset({"singular", "plural"}),
    frozenset({"feminine", "masculine", "neuter"}),
)
"""Person, number and gender."""


@dataclass(frozen=True)
class Expression:
    """A referring expression of a text.

    Attributes:
        start: First character of its head word.
        end: The character after the last of its head word.
        head: Its head word, in lower case.
        phrase: All its words, in lower case.
        kind: `PRONOUN`, `PROPER` or `NOMINAL`.
        features: What is known of its person, number and gender.
        word: Number of its head word in the text.
        entity: Number of what it refers to.
    """

    start: int
    end: int
    head: str
    phrase: str
    kind: str
    features: frozenset[str]
    word: int
    entity: int


@dataclass(frozen=True)
class Text:
    """A text and its expressions, in the order of their head words."""

    text: str
    expressions: tuple[Expression, ...]


def texts_of(sentences: Sequence[Sentence]) -> list[Text]:
    """Join the sentences of every document, which follow each other.

    Args:
        sentences: With mentions whose entities have the same numbers throughout a document.
    """
    documents = itertools.groupby(sentences, lambda sentence: sentence.document)
    return [_text(list(document)) for _, document in documents]


def documents(sentences: Sequence[Sentence], texts: int, seed: int) -> list[Sentence]:
    """The sentences of different documents, a random choice of them, in order.

    Args:
        sentences: Of any number of documents.
        texts: How many documents to keep; all if there are fewer.
        seed: Seed of the choice.
    """
    written: dict[int, list[str]] = {}
    for sentence in sentences:
        written.setdefault(sentence.document, []).append(sentence.text)
    units = numbered_texts([[" ".join(own) for own in written.values()]])
    numbers = sorted(np.array([*written])[first_of_each(units)].tolist())
    chosen = set(random.Random(seed).sample(numbers, min(texts, len(numbers))))
    return [sentence for sentence in sentences if sentence.document in chosen]


def _text(sentences: Sequence[Sentence]) -> Text:
    """The sentences of one document as a text."""
    found: list[Expression] = []
    characters = words = 0
    for sentence in sentences:
        for mention in _distinct(sentence):
            found.append(_expression(sentence, mention, characters, words))
        characters += len(sentence.text) + 1
        words += len(sentence)
    return Text(" ".join(sentence.text for sentence in sentences), tuple(found))


def _distinct(sentence: Sentence) -> list[Mention]:
    """Mentions in the order of their head words, which stand for them.

    Of several with the same head word, or with head words that are written as one, the shortest is
    kept.
    """
    kept: dict[int, Mention] = {}
    for mention in sorted(sentence.mentions or (), key=lambda each: each.end - each.start):
        kept.setdefault(sentence.starts[mention.head], mention)
    return sorted(kept.values(), key=lambda mention: mention.head)


def _expression(sentence: Sentence, mention: Mention, characters: int, words: int) -> Expression:
    """A mention of a sentence that begins after some characters and words of a text."""
    place, tag = mention.head, sentence.tags[mention.head]
    head = sentence.words[place].lower()
    own = [word for word in range(mention.start, mention.end) if word not in mention.gaps]
    return Expression(
        start=characters + sentence.starts[place],
        end=characters + sentence.ends[place],
        head=head,
        phrase=" ".join(sentence.words[word] for word in own).lower(),
        kind=PRONOUN if tag in _PRONOUNS else PROPER if tag in _PROPER else NOMINAL,
        features=_features(head, tag, mention.features),
        word=words + place,
        entity=mention.entity,
    )


def _features(head: str, tag: str, annotated: Sequence[str] = ()) -> frozenset[str]:
    """Person, number and gender, as annotated, or as the word and its part of speech show them."""
    if tag in _PRONOUNS:
        return frozenset(annotated) or _OF_PRONOUNS.get(head, frozenset())
    number = {"plural"} if tag in _PLURAL else {"singular"} if tag in _SINGULAR else set()
    return frozenset({"third", *number, *annotated})


# ------------------------------------------------------------------------------------- resolution


def anaphors(expressions: Sequence[Expression]) -> list[int]:
    """Expressions to resolve: earlier ones refer to the same thing, and others do not."""
    found = []
    for place, expression in enumerate(expressions):
        same = {earlier.entity == expression.entity for earlier in expressions[:place]}
        if same == {True, False}:
            found.append(place)
    return found


def nearest(expressions: Sequence[Expression], place: int) -> int:
    """The last expression before this one."""
    return _first_of(expressions, place)


def head_match(expressions: Sequence[Expression], place: int) -> int:
    """The last one with the same head word, or else the last one."""
    return _first_of(expressions, place, _same_head)


def rules(expressions: Sequence[Expression], place: int) -> int:
    """A sieve of four rules, as in the paper: the last expression that fulfils the strictest.

    They are: all words are the same; the head word is; person, number and gender do not differ;
    any expression. The paper follows Lee et al. (2011), whose sieves know genders of names, too.
    """
    return _first_of(expressions, place, _same_phrase, _same_head, _agree)


Rule = Callable[[Expression, Expression], bool]


def _first_of(expressions: Sequence[Expression], place: int, *sieve: Rule) -> int:
    own = expressions[place]
    for rule in sieve:
        for earlier in range(place - 1, -1, -1):
            if rule(expressions[earlier], own):
                return earlier
    return place - 1


def _same_phrase(one: Expression, other: Expression) -> bool:
    return one.phrase == other.phrase


def _same_head(one: Expression, other: Expression) -> bool:
    return one.head == other.head


def _agree(one: Expression, other: Expression) -> bool:
    both = one.features | other.features
    return all(len(both & features) <= 1 for features in _EXCLUSIVE)


def nearest_to_distances(expressions: Sequence[Expression], place: int, furthest: int) -> Places:
    """The earlier expressions nearest to every distance in words; of two, the later one.

    Args:
        expressions: Those of a text.
        place: The one that comes after.
        furthest: Greatest distance.

    Returns:
        [distances] from 1 to ``furthest``.
    """
    words = np.array([each.word for each in expressions[: place + 1]])
    apart = words[place] - words[:place][::-1]
    distances = np.arange(1, furthest + 1)
    found: Places = place - 1 - np.abs(apart - distances[:, None]).argmin(axis=1)
    return found
