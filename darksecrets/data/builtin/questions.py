"""Everyday questions: how to do something, where to get it, which is better, why."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from darksecrets.data.builtin.grammar import Node, Realiser, Sentence, finish, phrase
from darksecrets.data.builtin.lexicon import Noun, inflect, names, nouns_of, plural, verbs
from darksecrets.data.builtin.scenes import pick

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
        kind: ``how``, ``where``, ``better``, ``why``, ``cost`` or ``difference``.
        noun: Topic of the question.
        verb: First word of the verb's entry, for ``how``.
        other: The second thing, for ``better`` and ``difference``.
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
    pool = [v for v in verbs() if v.words[0] in _SKILLS]
    chosen = rng.choice(pool)
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
        if other.words[0] not in (noun.words[0], noun.hypernym) and (
            other.hypernym != noun.words[0]
        ):
            return Asking(kind, noun, other=other, adjective=rng.choice(_COMPARED))


def changed(rng: random.Random, asking: Asking) -> Asking:
    """Another question that shares most of its words."""
    changes: list[Callable[[], Asking]] = [lambda: _other_noun(rng, asking)]
    if asking.kind == "how":
        changes.append(lambda: _other_verb(rng, asking))
    if asking.kind == "better":
        swapped = replace(asking, noun=asking.other or asking.noun, other=asking.noun)
        changes = [lambda: swapped, lambda: swapped, lambda: _other_adjective(rng, asking)]
    if asking.kind in ("where", "cost", "why"):
        changes.append(lambda: _other_city(rng, asking))
    if asking.kind == "why":
        changes.append(lambda: _other_adjective(rng, asking))
    if asking.quality:
        changes.append(lambda: _other_quality(rng, asking))
    return rng.choice(changes)()


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


# ------------------------------------------------------------------------------------------- words


@dataclass
class _Filling:
    asking: Asking
    realiser: Realiser

    def one(self, noun: Noun | None = None) -> Node:
        entry = noun or self.asking.noun
        node = Node(self.realiser.word(entry.words), "NN", key=entry.words[0])
        node.before(Node("a", "DT", "det"))
        if self.asking.quality and noun is None:
            node.before(Node(self.asking.quality, "JJ", "amod"))
        return node

    def many(self, noun: Noun | None = None) -> Node:
        entry = noun or self.asking.noun
        node = Node(plural(self.realiser.word(entry.words)), "NNS", key=entry.words[0])
        if self.asking.quality and noun is None:
            node.before(Node(self.asking.quality, "JJ", "amod"))
        return node

    def verb(self, tag: str = "VB") -> Node:
        entry = next(v for v in verbs() if v.words[0] == self.asking.verb)
        return Node(inflect(self.realiser.word(entry.words), tag), tag)

    def city(self) -> Node:
        return Node(self.asking.city, "NNP", key=self.asking.city)


_CAN = "{wh}/advmod/4 {md}/aux/4 {who}/nsubj/4 {verb}//0"


def _ask(f: _Filling, word: str, verb: Node) -> Node:
    """``How can I ...`` with a random person."""
    who = f.realiser.rng.choice(("I", "you", "we", "someone"))
    md = f.realiser.rng.choice(("can", "should", "could"))
    subject = Node(who, "NN" if who == "someone" else "PRP", key=who)
    return phrase(_CAN, wh=Node(word, "WRB"), md=Node(md, "MD"), who=subject, verb=verb)


def _how_can(f: _Filling) -> Node:
    return _ask(f, "how", f.verb().after(_as(f.one(), "dobj")))


def _as(node: Node, dep: str) -> Node:
    node.dep = dep
    return node


def _how_best(f: _Filling) -> Node:
    verb = f.verb().after(_as(f.one(), "dobj"))
    verb.before(Node("to", "TO", "aux"))
    word = f.realiser.rng.choice(("best", "right", "easiest"))
    best = Node(word, "JJ" if word == "right" else "JJS")
    return phrase(
        "what/WP/attr/2 is/VBZ/root/0 the/DT/det/5 {best}/amod/5 way/NN/nsubj/2 {verb}/relcl/5",
        best=best,
        verb=verb,
    )


def _how_does(f: _Filling) -> Node:
    return phrase(
        "how/WRB/advmod/4 does/VBZ/aux/4 one/PRP/nsubj/4 {verb}//0",
        verb=f.verb().after(_as(f.one(), "dobj")),
    )


def _how_tell(f: _Filling) -> Node:
    verb = f.verb().after(_as(f.one(), "dobj"))
    verb.before(Node("how", "WRB", "advmod"), Node("to", "TO", "aux"))
    return phrase("can/MD/aux/3 you/PRP/nsubj/3 explain/VB/root/0 {verb}/xcomp/3", verb=verb)


def _in_city(f: _Filling) -> Node:
    return phrase("in/IN/prep/0 {city}/pobj/1", city=f.city())


def _where_can(f: _Filling) -> Node:
    lemma = f.realiser.rng.choice(("buy", "buy", "get", "find"))
    verb = Node(lemma, "VB").after(_as(f.one(), "dobj"), _in_city(f))
    return _ask(f, "where", verb)


def _where_are(f: _Filling) -> Node:
    return phrase(
        "where/WRB/advmod/4 are/VBP/auxpass/4 {many}/nsubjpass/4 sold/VBN/root/0 {city}//4",
        many=f.many(),
        city=_in_city(f),
    )


def _where_place(f: _Filling) -> Node:
    lemma = f.realiser.rng.choice(("buy", "purchase", "get"))
    verb = Node(lemma, "VB").before(Node("to", "TO", "aux")).after(_as(f.one(), "dobj"))
    return phrase(
        "what/WP/attr/2 is/VBZ/root/0 a/DT/det/5 good/JJ/amod/5 place/NN/nsubj/2 {city}//5 "
        "{verb}/relcl/5",
        city=_in_city(f),
        verb=verb,
    )


def _where_shop(f: _Filling) -> Node:
    return phrase(
        "which/WDT/det/2 shop/NN/nsubj/4 {city}//2 sells/VBZ/root/0 {many}/dobj/4",
        city=_in_city(f),
        many=f.many(),
    )


def _than(f: _Filling, noun: Noun | None, many: bool) -> Node:
    node = f.many(noun) if many else f.one(noun)
    return Node("than", "IN", "prep").after(_as(node, "pobj"))


def _compared(f: _Filling, many: bool) -> Node:
    return Node(f.asking.adjective, "JJR", "acomp").after(_than(f, f.asking.other, many))


def _better_is(f: _Filling) -> Node:
    return phrase(
        "is/VBZ/root/0 {one}/nsubj/1 {compared}/acomp/1",
        one=f.one(),
        compared=_compared(f, many=False),
    )


def _better_are(f: _Filling) -> Node:
    return phrase(
        "are/VBP/root/0 {many}/nsubj/1 {compared}/acomp/1",
        many=f.many(),
        compared=_compared(f, many=True),
    )


def _better_true(f: _Filling) -> Node:
    clause = phrase(
        "that/IN/mark/3 {many}/nsubj/3 are/VBP/ccomp/0 {compared}/acomp/3",
        many=f.many(),
        compared=_compared(f, many=True),
    )
    return phrase("is/VBZ/root/0 it/PRP/nsubj/1 true/JJ/acomp/1 {clause}/ccomp/1", clause=clause)


def _better_think(f: _Filling) -> Node:
    clause = phrase(
        "{one}/nsubj/2 is/VBZ/ccomp/0 {compared}/acomp/2",
        one=f.one(),
        compared=_compared(f, many=False),
    )
    return phrase("do/VBP/aux/3 you/PRP/nsubj/3 think/VB/root/0 {clause}/ccomp/3", clause=clause)


def _so(f: _Filling) -> Node:
    return phrase("so/RB/advmod/2 {adjective}//0", adjective=Node(f.asking.adjective, "JJ"))


def _why_are(f: _Filling) -> Node:
    return phrase(
        "why/WRB/advmod/2 are/VBP/root/0 {many}/nsubj/2 {so}/acomp/2 {city}//2",
        many=f.many(),
        so=_so(f),
        city=_in_city(f),
    )


def _why_what(f: _Filling) -> Node:
    small = phrase(
        "{many}/nsubj/3 so/RB/advmod/3 {adjective}/ccomp/0",
        many=f.many(),
        adjective=Node(f.asking.adjective, "JJ"),
    )
    return phrase(
        "what/WP/nsubj/2 makes/VBZ/root/0 {small}/ccomp/2 {city}//2", small=small, city=_in_city(f)
    )


def _why_reason(f: _Filling) -> Node:
    clause = phrase(
        "that/IN/mark/3 {many}/nsubj/3 are/VBP/acl/0 {so}/acomp/3 {city}//3",
        many=f.many(),
        so=_so(f),
        city=_in_city(f),
    )
    return phrase(
        "what/WP/attr/2 is/VBZ/root/0 the/DT/det/4 reason/NN/nsubj/2 {clause}/acl/4", clause=clause
    )


def _cost_how(f: _Filling) -> Node:
    return phrase(
        "how/WRB/advmod/2 much/JJ/dobj/5 does/VBZ/aux/5 {one}/nsubj/5 cost/VB/root/0 {city}//5",
        one=f.one(),
        city=_in_city(f),
    )


def _cost_price(f: _Filling) -> Node:
    of = Node("of", "IN", "prep").after(_as(f.one(), "pobj"))
    return phrase(
        "what/WP/attr/2 is/VBZ/root/0 the/DT/det/4 price/NN/nsubj/2 {of}//4 {city}//2",
        of=of,
        city=_in_city(f),
    )


def _cost_pay(f: _Filling) -> Node:
    target = Node("for", "IN", "prep").after(_as(f.one(), "pobj"))
    return phrase(
        "how/WRB/advmod/2 much/JJ/dobj/5 do/VBP/aux/5 people/NNS/nsubj/5 pay/VB/root/0 "
        "{target}//5 {city}//5",
        target=target,
        city=_in_city(f),
    )


_PATTERNS: dict[str, tuple[Callable[[_Filling], Node], ...]] = {
    "how": (_how_can, _how_can, _how_best, _how_does, _how_tell),
    "where": (_where_can, _where_are, _where_place, _where_shop),
    "better": (_better_is, _better_are, _better_true, _better_think),
    "why": (_why_are, _why_what, _why_reason),
    "cost": (_cost_how, _cost_price, _cost_pay),
}


def ask(rng: random.Random, asking: Asking, variety: float = 0.3) -> Sentence:
    """Express a question in one of its wordings."""
    filling = _Filling(asking, Realiser(rng, variety))
    return finish(rng.choice(_PATTERNS[asking.kind])(filling), "?")
