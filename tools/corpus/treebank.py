"""Sentences and texts of the grammar as trees with mentions, and what they refer to."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from darksecrets.core.data.sentences import ROOT, Mention, Sentence
from tools.corpus import grammar
from tools.corpus.documents import documents, stories

_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_PRONOUNS = frozenset({"PRP", "PRP$"})


def sentences_with_trees(sentences: int, seed: int) -> list[Sentence]:
    """Sentences of the grammar with their gold trees and mentions, no two alike.

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
    """A sentence of the grammar in the form that files of trees are read into.

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


def stories_with_mentions(texts: int, seed: int) -> list[Sentence]:
    """Sentences of texts, in order, with what their nouns and pronouns refer to.

    Args:
        texts: How many texts; no two are alike.
        seed: Determines which.
    """
    return [
        sentence
        for number, story in enumerate(stories(texts, seed))
        for sentence in _annotated(story, number)
    ]


def _annotated(story: Sequence[grammar.Sentence], number: int) -> Iterator[Sentence]:
    """Sentences of a story; mentions are those that refer to something of the story."""
    entities: dict[str, int] = {}
    for place, sentence in enumerate(story, start=1):
        names = sentence.referents
        plain = from_grammar(sentence, f"{number + 1}.{place}", number)
        mentions = [mention for mention in plain.mentions or () if names[mention.head]]
        numbered = [
            replace(mention, entity=entities.setdefault(names[mention.head], len(entities)))
            for mention in mentions
        ]
        yield replace(plain, mentions=tuple(numbered))
