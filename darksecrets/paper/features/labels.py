"""The paper's features from the labels of a tagger and a parser (sections 4.4 and 4.5).

All label names are here: Penn tags, and the two sets of dependency labels that parsers of English
use, ClearNLP's (the authors') and those of Universal Dependencies (UD).
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from darksecrets.core.arrays import Flags
from darksecrets.core.run.files import RESOURCES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Features that words have; the special tokens are features of their own.
WORD_FEATURES = ("noun", "verb", "pronoun", "subject", "object", "negation", "punctuation")
FEATURES = (*WORD_FEATURES, "[CLS]", "[SEP]")
#: The first token attends to the second: row and column of the map.
RELATIONS = ("verb to subject", "subject to verb", "pronoun to noun", "noun to pronoun")


SINGULAR_NOUNS, PLURAL_NOUNS = frozenset({"NN", "NNP"}), frozenset({"NNS", "NNPS"})
NOUNS = SINGULAR_NOUNS | PLURAL_NOUNS
PRONOUNS = frozenset({"PRP", "PRP$"})
VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"})

SUBJECTS = frozenset(
    {"nsubj", "nsubjpass", "csubj", "csubjpass", "agent", "expl"}  # ClearNLP
    | {"nsubj:pass", "nsubj:outer", "csubj:pass", "csubj:outer", "obl:agent"}  # UD, in addition
)
OBJECTS = frozenset({"dobj", "iobj", "dative", "attr", "oprd"} | {"obj"})
PUNCTUATION = frozenset({"punct"})

#: The paper's list. A contraction is one word here, whether or not the tokenizer splits it.
NEGATIONS = _words(
    "neither nor not never none don't won't didn't hadn't haven't can't isn't wasn't shouldn't "
    "couldn't nothing nowhere"
)

#: Third person only: `I`, `we` and `you` do not stand for a noun.
SINGULAR_PRONOUNS = _words(
    "he him his himself she her hers herself it its itself one one's oneself"
)
PLURAL_PRONOUNS = _words("they them their theirs themselves")

_LISTS = tomllib.loads((RESOURCES / "labels.toml").read_text(encoding="utf-8"))
_PENN, _CLEARNLP, _UNIVERSAL = (_words(_LISTS[name]) for name in ("penn", "clearnlp", "universal"))


def unknown_tags(tags: Collection[str]) -> list[str]:
    """Tags that are not Penn tags, sorted."""
    return sorted(set(tags) - _PENN - {""})


def unknown_dependencies(labels: Collection[str]) -> list[str]:
    """Dependency labels of neither set, sorted; subtypes (``nmod:poss``) are UD's."""
    return sorted(
        label
        for label in set(labels) - {""}
        if label.lower() not in _CLEARNLP and label.split(":")[0].lower() not in _UNIVERSAL
    )


def word_features(tokens: Sequence[Mapping[str, Any]]) -> Flags:
    """Tell which features the words of a sentence have.

    Args:
        tokens: ``text``, ``tag`` (Penn) and ``dep`` (of either set) of every word.

    Returns:
        [words, features], features in the order of `WORD_FEATURES`.
    """
    label_features = {
        "noun": [token["tag"] in NOUNS for token in tokens],
        "verb": [token["tag"] in VERBS for token in tokens],
        "pronoun": [token["tag"] in PRONOUNS for token in tokens],
        "subject": [token["dep"] in SUBJECTS for token in tokens],
        "object": [token["dep"] in OBJECTS for token in tokens],
        "negation": negation_words([token["text"] for token in tokens]),
        "punctuation": [token["dep"] in PUNCTUATION for token in tokens],
    }
    return np.array([label_features[name] for name in WORD_FEATURES], dtype=np.bool_).T


def negation_words(words: Sequence[str]) -> list[bool]:
    """Tell which words are on the paper's list, or are the halves of a contraction on it.

    Only whole words match. The authors' notebook searches for substrings: "not" matches "notice".
    """
    plain = [word.lower().replace("’", "'") for word in words]
    found = [word in NEGATIONS for word in plain]
    for second in range(1, len(plain)):
        if plain[second] == "n't" and plain[second - 1] + "n't" in NEGATIONS:
            found[second - 1] = found[second] = True
    return found


def antecedent(tokens: Sequence[Mapping[str, Any]], number: int, first: int) -> int | None:
    """Guess which noun a pronoun stands for: the nearest preceding one that agrees in number.

    Args:
        tokens: ``text`` and ``tag`` of the words of a text.
        number: The word, a pronoun or not.
        first: First word of its sentence; earlier nouns are not considered.

    Returns:
        Number of the noun; None if the word is not a third-person pronoun or there is no such noun.
    """
    if tokens[number]["tag"] not in PRONOUNS:
        return None
    agreeing = agreeing_nouns(tokens[number]["text"]) & NOUNS
    nouns = (i for i in range(number - 1, first - 1, -1) if tokens[i]["tag"] in agreeing)
    return next(nouns, None)


def agreeing_nouns(pronoun: str) -> frozenset[str]:
    """Tags of the nouns that a pronoun agrees with in number; none for `I`, `we` and `you`."""
    word = pronoun.lower()
    if word in SINGULAR_PRONOUNS:
        return SINGULAR_NOUNS
    return PLURAL_NOUNS if word in PLURAL_PRONOUNS else frozenset()
