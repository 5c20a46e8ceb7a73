"""The paper's features from the labels of a tagger and a parser (sections 4.4 and 4.5).

All label names are here: Penn tags, and the two sets of dependency labels that parsers of English
use, ClearNLP's (the authors') and those of Universal Dependencies (UD). A label of UD with a
subtype, such as ``nsubj:caus``, is what its universal part says. Lists of words are of English.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from darksecrets.core.arrays import Flags
from darksecrets.core.data.words import words_of
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
    # UD, in addition. Other expletives (`expl:pv`) are parts of a verb.
    | {"obl:agent", "expl:subj"}
)
OBJECTS = frozenset({"dobj", "iobj", "dative", "attr", "oprd"} | {"obj"})
PUNCTUATION = frozenset({"punct"})
#: Relations of UD of which every subtype is one.
_SUBJECTS_OF_UD = frozenset({"nsubj", "csubj"})
_OBJECTS_OF_UD = frozenset({"obj", "iobj"})

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


#: Words of English that are no words of its neighbours: about a sixth of any English text.
_ENGLISH = _words(
    "the and that it with this are you they from have he she his which would there their been "
    "who what when were has had does"
)
_ENGLISH_AT_LEAST = 0.04
_FEW = 50
"""Words of texts that are too few to tell their language."""


def is_english(texts: Iterable[str]) -> bool | None:
    """Whether texts look English, by their function words; None if they are too few to tell."""
    words = [word.lower() for text in texts for word in words_of(text) if word[0].isalnum()]
    if len(words) < _FEW:
        return None
    return sum(word in _ENGLISH for word in words) >= _ENGLISH_AT_LEAST * len(words)


def universal(label: str) -> str:
    """A dependency label of UD without its subtype: ``nsubj`` of ``nsubj:pass``."""
    return label.split(":")[0]


def is_subject(label: str) -> bool:
    """Whether a dependency label is that of a subject."""
    return label in SUBJECTS or universal(label) in _SUBJECTS_OF_UD


def is_object(label: str) -> bool:
    """Whether a dependency label is that of an object."""
    return label in OBJECTS or universal(label) in _OBJECTS_OF_UD


def is_punctuation(label: str) -> bool:
    """Whether a dependency label is that of punctuation."""
    return universal(label) in PUNCTUATION


def unknown_tags(tags: Collection[str]) -> list[str]:
    """Tags that are not Penn tags, sorted."""
    return sorted(set(tags) - _PENN - {""})


def unknown_dependencies(labels: Collection[str]) -> list[str]:
    """Dependency labels of neither set, sorted; subtypes (``nmod:poss``) are UD's."""
    return sorted(
        label
        for label in set(labels) - {""}
        if label.lower() not in _CLEARNLP and universal(label).lower() not in _UNIVERSAL
    )


def word_features(tokens: Sequence[Mapping[str, Any]]) -> Flags:
    """Tell which features the words of a sentence have.

    Args:
        tokens: ``text``, ``tag`` (Penn) and ``dep`` (of either set) of every word; and
            ``negation`` if the annotation says whether it is one.

    Returns:
        [words, features], features in the order of `WORD_FEATURES`.
    """
    listed = negation_words([token["text"] for token in tokens])
    label_features = {
        "noun": [token["tag"] in NOUNS for token in tokens],
        "verb": [token["tag"] in VERBS for token in tokens],
        "pronoun": [token["tag"] in PRONOUNS for token in tokens],
        "subject": [is_subject(token["dep"]) for token in tokens],
        "object": [is_object(token["dep"]) for token in tokens],
        "negation": [
            token.get("negation", is_listed)
            for token, is_listed in zip(tokens, listed, strict=True)
        ],
        "punctuation": [is_punctuation(token["dep"]) for token in tokens],
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
        tokens: ``text`` and ``tag`` of the words of a text; and ``agrees``, the tags of the nouns
            that a pronoun agrees with, if the annotation says so.
        number: The word, a pronoun or not.
        first: First word of its sentence; earlier nouns are not considered.

    Returns:
        Number of the noun; None if the word is not a third-person pronoun or there is no such noun.
    """
    if tokens[number]["tag"] not in PRONOUNS:
        return None
    pronoun = tokens[number]
    agreeing = pronoun["agrees"] if "agrees" in pronoun else agreeing_nouns(pronoun["text"])
    nouns = (i for i in range(number - 1, first - 1, -1) if tokens[i]["tag"] in agreeing)
    return next(nouns, None)


def agreeing_nouns(pronoun: str) -> frozenset[str]:
    """Tags of the nouns that a pronoun agrees with in number; none for *I*, *we* and *you*."""
    word = pronoun.lower()
    if word in SINGULAR_PRONOUNS:
        return SINGULAR_NOUNS
    return PLURAL_NOUNS if word in PLURAL_PRONOUNS else frozenset()
