"""Words of the generated corpus, read from ``words/*.tsv``, and English inflection.

A lexical entry is a set of synonyms (``words``, the most common first) with its antonym, hypernym
and the classes of words it combines with.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "words"


@dataclass(frozen=True)
class Noun:
    """A common noun or a name.

    Attributes:
        words: Synonyms, the most common first.
        kind: Class that verbs and adjectives select for; ``name`` and ``city`` for names.
        hypernym: First word of the hypernym's entry, or empty.
        gender: ``f``, ``m`` or empty.
    """

    words: tuple[str, ...]
    kind: str
    hypernym: str = ""
    gender: str = ""

    @property
    def proper(self) -> bool:
        """Whether the noun is a name, which takes no article."""
        return self.kind in ("name", "city")

    @property
    def animate(self) -> bool:
        """Whether the noun names a person; questions then use ``who``."""
        return self.kind in ("name", "person")


@dataclass(frozen=True)
class Verb:
    """A verb with its antonym, the classes it selects and the names of its core elements.

    Attributes:
        words: Synonyms, the most common first.
        antonym: First word of the antonym's entry, or empty.
        subjects: Classes of the subject.
        objects: Classes of the direct object; empty for an intransitive verb.
        roles: Names of the elements: subject, object, recipient.
        places: Group of places where it happens.
        flags: ``s`` stative, ``n`` no passive, ``p`` subject and object are people and can be
            swapped, ``d`` takes a recipient.
    """

    words: tuple[str, ...]
    antonym: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    roles: tuple[str, ...]
    places: str
    flags: str = ""


@dataclass(frozen=True)
class Modifier:
    """An adjective or a manner adverb with its antonyms.

    Attributes:
        words: Synonyms, the most common first.
        opposite: Synonyms of the opposite, or empty.
        group: Dimension, such as size; an object has one value of each.
        kinds: Classes of the nouns it goes with.
    """

    words: tuple[str, ...]
    opposite: tuple[str, ...]
    group: str = ""
    kinds: tuple[str, ...] = ()


def read(name: str) -> list[dict[str, str]]:
    """Rows of a file of the corpus, by column."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", restval=""))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()


@cache
def _by_lemma(name: str) -> dict[str, dict[str, str]]:
    return {row["lemma"]: row for row in read(name)}


@cache
def nouns() -> tuple[Noun, ...]:
    """Common nouns; general ones (hypernyms) have a ``*`` after their class."""
    return tuple(
        Noun(_words(row["words"]), row["class"], row["hypernym"], row["gender"])
        for row in read("nouns.tsv")
    )


@cache
def nouns_of(kind: str) -> tuple[Noun, ...]:
    """Common nouns of a class, without the general ones."""
    return tuple(noun for noun in nouns() if noun.kind == kind)


@cache
def noun(word: str) -> Noun:
    """The entry whose first word is ``word``."""
    return next(entry for entry in nouns() if entry.words[0] == word)


@cache
def names(kind: str) -> tuple[str, ...]:
    """Names of a kind: ``female``, ``male``, ``surname`` or ``city``."""
    return tuple(row["name"] for row in read("names.tsv") if row["kind"] == kind)


@cache
def verbs() -> tuple[Verb, ...]:
    """All verbs with arguments."""
    return tuple(
        Verb(
            _words(row["words"]),
            row["antonym"],
            tuple(row["subjects"].split()),
            tuple(row["objects"].split()),
            tuple(row["roles"].split(",")),
            row["places"],
            row["flags"],
        )
        for row in read("verbs.tsv")
    )


@cache
def verb(word: str) -> Verb:
    """The entry whose first word is ``word``."""
    return next(entry for entry in verbs() if entry.words[0] == word)


def _both_directions(name: str) -> tuple[Modifier, ...]:
    entries = []
    for row in read(name):
        one, other = _words(row["words"]), _words(row["antonyms"])
        rest = row.get("group", "manner"), tuple(row.get("classes", "").split())
        entries += [Modifier(one, other, *rest), *[Modifier(other, one, *rest)] * bool(other)]
    return tuple(entries)


@cache
def adjectives() -> tuple[Modifier, ...]:
    """Adjectives, both directions of each pair of opposites."""
    return _both_directions("adjectives.tsv")


@cache
def adjectives_of(kind: str) -> tuple[Modifier, ...]:
    """Adjectives that go with nouns of a class."""
    return tuple(entry for entry in adjectives() if kind in entry.kinds)


@cache
def adverbs() -> tuple[Modifier, ...]:
    """Manner adverbs, both directions of each pair of opposites."""
    return _both_directions("adverbs.tsv")


_VOWELS = "aeiou"
# Verbs of several syllables whose last consonant doubles.
_DOUBLING = {"prefer", "admit", "forget", "begin", "regret", "compel", "deter", "chat"}
_NOT_DOUBLING = {"open", "visit", "offer", "deliver", "publish", "listen", "wander", "murmur"}


def _doubles(lemma: str) -> bool:
    if lemma in _DOUBLING:
        return True
    ends = (
        len(lemma) >= 3
        and lemma[-1] not in _VOWELS + "wxy"
        and lemma[-2] in _VOWELS
        and lemma[-3] not in _VOWELS
    )
    # One syllable (one group of vowels), or the British doubling of l: "travelling".
    groups = sum(
        1 for i, c in enumerate(lemma) if c in _VOWELS and (i == 0 or lemma[i - 1] not in _VOWELS)
    )
    return ends and lemma not in _NOT_DOUBLING and (groups == 1 or lemma[-1] == "l")


def _sibilant(word: str) -> bool:
    return word.endswith(("s", "sh", "ch", "x", "z"))


def plural(lemma: str) -> str:
    """Plural of a noun."""
    if irregular := _by_lemma("irregular_plurals.tsv").get(lemma):
        return irregular["plural"]
    if _sibilant(lemma):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in _VOWELS:
        return lemma[:-1] + "ies"
    return lemma + "s"


def inflect(lemma: str, tag: str) -> str:
    """Form of a verb for a Penn tag: VB, VBP, VBZ, VBD, VBN or VBG (``be`` by ``grammar``)."""
    if tag in ("VB", "VBP"):
        return lemma
    if tag == "VBZ":
        if lemma == "have":
            return "has"
        if _sibilant(lemma) or lemma in ("do", "go"):
            return lemma + "es"
        consonant_y = lemma.endswith("y") and lemma[-2] not in _VOWELS
        return lemma[:-1] + "ies" if consonant_y else lemma + "s"
    if tag == "VBG":
        if lemma.endswith("e") and not lemma.endswith(("ee", "ye", "oe")) and lemma != "be":
            return lemma[:-1] + "ing"
        return lemma + (lemma[-1] if _doubles(lemma) else "") + "ing"
    if irregular := _by_lemma("irregular_verbs.tsv").get(lemma):
        return irregular["past" if tag == "VBD" else "participle"]
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in _VOWELS:
        return lemma[:-1] + "ied"
    return lemma + (lemma[-1] if _doubles(lemma) else "") + "ed"
