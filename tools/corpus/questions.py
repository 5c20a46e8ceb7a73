"""Everyday questions: how to do something, where to get it, which is better, why."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

from tools.corpus import lexicon
from tools.corpus.grammar import Node, Realiser, Sentence, finish, phrase
from tools.corpus.lexicon import Noun, names, nouns_of, verbs
from tools.corpus.scenes import pick

# Verbs for what people want to learn or have done, and classes of things that they ask about.
_SKILLS = (
    *("repair", "clean", "draw", "photograph", "build", "drive", "park", "cook", "sew", "write"),
    *("translate", "publish", "play", "feed", "catch", "find", "sell", "open"),
    *("destroy", "break", "close", "hide", "release", "steal", "copy", "read"),
)
_WARES = (
    *("vehicle", "clothing", "tool", "furniture", "artwork", "instrument", "device"),
    *("jewel", "container", "item", "food"),
)


@dataclass(frozen=True)
class Asking:
    """The meaning of a question.

    Attributes:
        kind: ``how``, ``where``, ``better``, ``why`` or ``cost``.
        noun: Topic of the question.
        verb: First word of the verb's entry, for ``how``.
        other: The second thing, for ``better``.
        city: Place, for ``where`` and ``cost``.
        adjective: Adjective asked about, for ``why`` and ``better``.
        quality: An adjective of the noun, or empty.
    """

    kind: str
    noun: Noun
    verb: str = ""
    other: Noun | None = None
    city: str = ""
    adjective: str = ""
    quality: str = ""


_KINDS = ("how", "where", "better", "why", "cost", "how", "where", "better")
_COMPARED = ("cheaper", "heavier", "older", "larger", "stronger", "safer", "nicer", "smaller")
_WHY = ("expensive", "popular", "heavy", "fragile", "cheap", "rare", "dangerous", "noisy", "useful")
_QUALITIES = ("old", "new", "small", "large", "cheap", "good", "broken", "heavy", "modern")


def _skill(rng: random.Random) -> tuple[str, Noun]:
    chosen = rng.choice([v for v in verbs() if v.words[0] in _SKILLS])
    kind = rng.choice([k for k in chosen.objects if k != "person"] or ["animal"])
    return chosen.words[0], pick(rng, nouns_of(kind))


def draw(rng: random.Random) -> Asking:
    """A random question's meaning."""
    kind = rng.choice(_KINDS)
    quality = rng.choice(_QUALITIES) if rng.random() < 0.4 else ""
    if kind == "how":
        verb, noun = _skill(rng)
        return Asking(kind, noun, verb, quality=quality)
    ware = rng.choice(_WARES)
    noun = pick(rng, nouns_of(ware))
    if kind in ("where", "cost"):
        return Asking(kind, noun, city=pick(rng, names("city")), quality=quality)
    if kind == "why":
        return Asking(kind, noun, adjective=rng.choice(_WHY), city=pick(rng, names("city")))
    while True:
        other = pick(rng, nouns_of(ware))
        named = {noun.words[0], noun.hypernym}
        if other.words[0] not in named and other.hypernym != noun.words[0]:
            return Asking(kind, noun, other=other, adjective=rng.choice(_COMPARED))


def changed(rng: random.Random, asking: Asking) -> Asking:
    """Another question that shares most of its words."""
    changes = [*_CHANGES[asking.kind], *[_other_quality] * bool(asking.quality)]
    return rng.choice(changes)(rng, asking)


def _other_noun(rng: random.Random, asking: Asking) -> Asking:
    while True:
        noun = pick(rng, nouns_of(asking.noun.kind))
        if noun.words[0] != asking.noun.words[0]:
            return replace(asking, noun=noun)


def _other_verb(rng: random.Random, asking: Asking) -> Asking:
    pool = [
        v.words[0]
        for v in verbs()
        if v.words[0] in _SKILLS and v.words[0] != asking.verb and asking.noun.kind in v.objects
    ]
    return replace(asking, verb=rng.choice(pool)) if pool else _other_noun(rng, asking)


def _other_city(rng: random.Random, asking: Asking) -> Asking:
    return replace(asking, city=pick(rng, [c for c in names("city") if c != asking.city]))


def _other_adjective(rng: random.Random, asking: Asking) -> Asking:
    pool = _COMPARED if asking.kind == "better" else _WHY
    return replace(asking, adjective=rng.choice([a for a in pool if a != asking.adjective]))


def _other_quality(rng: random.Random, asking: Asking) -> Asking:
    return replace(asking, quality=rng.choice([q for q in _QUALITIES if q != asking.quality]))


def _swapped(_: random.Random, asking: Asking) -> Asking:
    return replace(asking, noun=asking.other or asking.noun, other=asking.noun)


_CHANGES: dict[str, tuple[Callable[[random.Random, Asking], Asking], ...]] = {
    "how": (_other_noun, _other_verb),
    "where": (_other_noun, _other_city),
    "better": (_swapped, _swapped, _other_adjective),
    "why": (_other_noun, _other_city, _other_adjective),
    "cost": (_other_noun, _other_city),
}


# ------------------------------------------------------------------------------------------- words


@cache
def _wordings(kind: str) -> tuple[str, ...]:
    """Templates of `phrase` for questions of a kind, the likelier ones more than once."""
    rows = lexicon.read("questions.tsv")
    return tuple(row["template"] for row in rows if row["kind"] == kind)


def _noun(asking: Asking, words: Realiser, entry: Noun | None, many: bool = False) -> Node:
    """A thing that the question is about, with its quality."""
    assert entry is not None
    word = words.word(entry.words)
    node = Node(lexicon.plural(word) if many else word, "NNS" if many else "NN")
    node.key = entry.words[0]
    if not many:
        node.before(Node("a", "DT", "det"))
    if asking.quality:
        node.before(Node(asking.quality, "JJ", "amod"))
    return node


def _fillings(asking: Asking, words: Realiser) -> dict[str, Callable[[], Node]]:
    """What fills the slots of the wordings, in the order in which words are drawn."""
    draw, noun = words.rng.choice, partial(_noun, asking, words)

    def someone() -> Node:
        who = draw(("I", "you", "we", "someone"))
        return Node(who, "NN" if who == "someone" else "PRP", key=who)

    def best() -> Node:
        word = draw(("best", "right", "easiest"))
        return Node(word, "JJ" if word == "right" else "JJS")

    return {
        "verb": lambda: Node(words.word(lexicon.verb(asking.verb).words), "VB"),
        "buy": lambda: Node(draw(("buy", "buy", "get", "find")), "VB"),
        "purchase": lambda: Node(draw(("buy", "purchase", "get")), "VB"),
        "one": lambda: noun(asking.noun),
        "many": lambda: noun(asking.noun, many=True),
        "other": lambda: noun(asking.other),
        "others": lambda: noun(asking.other, many=True),
        "who": someone,
        "can": lambda: Node(draw(("can", "should", "could")), "MD"),
        "best": best,
        "adjective": lambda: Node(asking.adjective, "JJR" if asking.kind == "better" else "JJ"),
        "city": lambda: Node(asking.city, "NNP", key=asking.city),
    }


def ask(rng: random.Random, asking: Asking, variety: float = 0.3) -> Sentence:
    """Express a question in one of its wordings."""
    template = rng.choice(_wordings(asking.kind))
    slots = _fillings(asking, Realiser(rng, variety))
    filled = {name: make() for name, make in slots.items() if f"{{{name}}}" in template}
    return finish(phrase(template, **filled), "?")
