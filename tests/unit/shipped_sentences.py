"""Sentences and stories that ship, with their trees and mentions, drawn at random."""

import random
from dataclasses import replace
from functools import cache
from itertools import groupby

from darksecrets.core.data import conllu_files
from darksecrets.core.data.sentences import Sentence
from darksecrets.core.run.files import RESOURCES

CORPUS = RESOURCES / "corpus"


def draw_sentences(sentences: int, seed: int) -> list[Sentence]:
    """Different sentences, each of another text or example.

    Args:
        sentences: How many of the 2,250.
        seed: Determines which.
    """
    drawn = random.Random(seed).sample(_sentences(), sentences)
    return [replace(each, name=str(n + 1), document=n) for n, each in enumerate(drawn)]


def draw_stories(stories: int, seed: int) -> list[Sentence]:
    """Sentences of different stories, in order, with what their nouns and pronouns refer to.

    Args:
        stories: How many of the 100.
        seed: Determines which.
    """
    drawn = random.Random(seed).sample(_stories(), stories)
    return [replace(each, document=n) for n, story in enumerate(drawn) for each in story]


@cache
def _sentences() -> tuple[Sentence, ...]:
    """Those of the treebank, and the first sentence of every example of a task."""
    treebank = conllu_files.read(CORPUS / "treebank.conllu.gz")
    examples = conllu_files.read(CORPUS / "words.conllu.gz")
    first = [replace(each, mentions=None) for each in examples if each.name.endswith("-1")]
    by_text = {each.text: each for each in [*first, *treebank]}
    return tuple(by_text.values())


@cache
def _stories() -> tuple[list[Sentence], ...]:
    sentences = conllu_files.read(CORPUS / "stories.conllu.gz")
    return tuple(list(story) for _, story in groupby(sentences, key=lambda each: each.document))
