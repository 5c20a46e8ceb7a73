"""Opinions whose polarity depends on more than single words: negation and contrast reverse it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tools.corpus import lexicon
from tools.corpus.grammar import Node, be, phrase, punctuation
from tools.corpus.lexicon import inflect, names, nouns_of
from tools.corpus.scenes import pick

_TOPICS = (
    *("film", "novel", "book", "play", "concert", "album", "restaurant", "hotel"),
    *("exhibition", "lecture", "phone", "documentary", "musical"),
)


@cache
def _words(kind: str) -> tuple[str, ...]:
    rows = lexicon.read("opinions.tsv")
    return next(tuple(row["words"].split()) for row in rows if row["kind"] == kind)


def topic(rng: random.Random) -> str:
    """Something people have opinions on."""
    return rng.choice(_TOPICS)


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


def _tag(noun: str) -> str:
    return "NNS" if _is_plural(noun) else "NN"


@dataclass
class _Clause:
    """Fillers of the patterns of :func:`opinion`."""

    rng: random.Random
    about: str
    positive: bool
    past: bool
    pronoun: bool

    def words(self, kind: str = "") -> tuple[str, ...]:
        return _words(("positive" if self.positive else "negative") + kind)

    def side(self, kind: str = "") -> str:
        return pick(self.rng, self.words(kind))

    def subject(self, dep: str = "nsubj") -> Node:
        if self.pronoun:
            many = "they" if dep == "nsubj" else "them"
            return Node(many if _is_plural(self.about) else "it", "PRP", dep, key="about")
        head = Node(self.about, _tag(self.about), dep, key="about")
        return head.before(Node("the", "DT", "det"))

    def tag(self, many: bool) -> str:
        return "VBD" if self.past else "VBP" if many else "VBZ"

    def verb(self, lemma: str, many: bool, dep: str = "root") -> Node:
        tag = self.tag(many)
        return Node(be(tag, many) if lemma == "be" else inflect(lemma, tag), tag, dep)

    def copula(self, complement: Node, *negation: Node, subject: Node | None = None) -> Node:
        verb = self.verb("be", subject is None and _is_plural(self.about))
        subject = subject or self.subject()
        complement.links.append((subject, "Entity"))
        return verb.before(subject).after(*negation, complement)

    def judge(self) -> tuple[Node, bool]:
        """The holder of the opinion, and whether its verb form is plural (also with I)."""
        kind = self.rng.choice(("I", "we", "name", "people", "one"))
        if kind in ("I", "we"):
            return Node(kind, "PRP", "nsubj", key=kind), True
        if kind == "name":
            found = pick(self.rng, names(self.rng.choice(("female", "male"))))
            return Node(found, "NNP", "nsubj", key="judge"), False
        if kind == "people":
            word = self.rng.choice(("critics", "visitors", "readers", "customers", "people"))
            word = word if word != "readers" or self.about in ("book", "novel") else "critics"
            most = self.rng.choice(("most", "many", "the", "some"))
            how = ("DT", "det") if most in ("the", "some") else ("JJ", "amod")
            return Node(word, "NNS", "nsubj", key="judge").before(Node(most, *how)), True
        occupation = pick(self.rng, nouns_of("person")).words[0]
        the = Node("the", "DT", "det")
        return Node(occupation, "NN", "nsubj", key="judge").before(the), False

    def adjective(self) -> Node:
        node = Node(self.side(), "JJ", "acomp")
        if self.rng.random() < 0.45:
            return node
        degrees = ("very", "really", "quite", "truly", "rather", "so", "extremely", "incredibly")
        return node.before(Node(self.rng.choice(degrees), "RB", "advmod"))

    def not_(self) -> Node:
        if self.rng.random() < 0.5:
            return Node("n't", "RB", "neg", glued=True)
        return Node("not", "RB", "neg")


# Patterns that keep the polarity of their word ...
def _plain_adjective(c: _Clause) -> Node:
    return c.copula(c.adjective())


def _plain_noun(c: _Clause) -> Node:
    noun = Node(c.side("_noun"), "NN", "attr").before(Node("a", "DT", "det"))
    if c.rng.random() < 0.5:
        degree = c.rng.choice(("real", "great", "complete", "total", "small"))
        noun.before(Node(degree, "JJ", "amod"))
    return c.copula(noun)


def _plain_verb(c: _Clause) -> Node:
    subject, many = c.judge()
    verb = c.verb(c.side("_verb"), many)
    target = c.subject("dobj")
    verb.links += [(subject, "Experiencer"), (target, "Content")]
    return verb.before(subject).after(target)


def _plain_quality(c: _Clause) -> Node:
    quality = c.side("_quality")
    return c.copula(phrase(f"full/JJ/acomp/0 of/IN/prep/1 {quality}/{_tag(quality)}/pobj/2"))


def _plain_both(c: _Clause) -> Node:
    one, other = c.rng.sample(c.words(), 2)
    return c.copula(phrase(f"{one}/JJ/acomp/0 and/CC/cc/1 {other}/JJ/conj/1"))


# ... and patterns that reverse it.
def _not_adjective(c: _Clause) -> Node:
    negation, adjective = c.not_(), c.adjective()
    if c.rng.random() < 0.25:
        adjective.after(phrase("at/IN/advmod/0 all/DT/pobj/1"))
    return c.copula(adjective, negation)


def _never_adjective(c: _Clause) -> Node:
    word = c.rng.choice(("never", "hardly"))
    return c.copula(c.adjective(), Node(word, "RB", "neg" if word == "never" else "advmod"))


def _far_from(c: _Clause) -> Node:
    return c.copula(phrase(f"far/RB/acomp/0 from/IN/prep/1 {c.side()}/JJ/pcomp/2"))


def _anything_but(c: _Clause) -> Node:
    return c.copula(phrase(f"anything/NN/attr/0 but/IN/prep/1 {c.side()}/JJ/pobj/2"))


def _neither(c: _Clause) -> Node:
    one, other = c.rng.sample(c.words(), 2)
    pair = f"neither/CC/preconj/2 {one}/JJ/acomp/0 nor/CC/cc/2 {other}/JJ/conj/2"
    return c.copula(phrase(pair))


def _no_noun(c: _Clause) -> Node:
    return c.copula(phrase(f"no/DT/det/2 {c.side('_noun')}/NN/attr/0"))


def _not_verb(c: _Clause) -> Node:
    subject, many = c.judge()
    lemma, target = c.side("_verb"), c.subject("dobj")
    if c.rng.random() < 0.3:
        subject = Node(c.rng.choice(("nobody", "none")), "NN", "nsubj")
        if subject.text == "none":
            subject.after(phrase("of/IN/prep/0 us/PRP/pobj/1"))
        verb = c.verb(lemma, many=False).before(subject)
    else:
        verb = Node(lemma, "VB", "root").before(subject, c.verb("do", many, "aux"), c.not_())
    verb.links += [(subject, "Experiencer"), (target, "Content")]
    return verb.after(target)


def _lacks_quality(c: _Clause) -> Node:
    quality, subject = c.side("_quality"), c.subject()
    verb = c.verb("have", _is_plural(c.about)).before(subject)
    verb.links.append((subject, "Owner"))
    return verb.after(phrase(f"no/DT/det/2 {quality}/{_tag(quality)}/dobj/0"))


def _nothing_about(c: _Clause) -> Node:
    nothing = phrase("nothing/NN/nsubj/0 about/IN/prep/1 {it}/pobj/2", it=c.subject("pobj"))
    return c.copula(Node(c.side(), "JJ", "acomp"), subject=nothing)


_PLAIN: tuple[Callable[[_Clause], Node], ...] = (
    *(_plain_adjective, _plain_adjective, _plain_adjective, _plain_noun),
    *(_plain_verb, _plain_verb, _plain_quality, _plain_both),
)
_TURNED: tuple[Callable[[_Clause], Node], ...] = (
    *(_not_adjective, _not_adjective, _never_adjective, _far_from, _anything_but),
    *(_neither, _no_noun, _not_verb, _not_verb, _lacks_quality, _nothing_about),
)


def opinion(
    rng: random.Random,
    about: str,
    positive: bool,
    *,
    turned: bool | None = None,
    past: bool | None = None,
    pronoun: bool = False,
) -> Node:
    """A clause with an opinion.

    Args:
        rng: Random number generator.
        about: A noun.
        positive: The opinion's polarity.
        turned: Whether it is expressed by negating the opposite; by default in two of five clauses.
        past: Whether the tense is past; by default at random.
        pronoun: Whether a pronoun replaces the noun.
    """
    if turned is None:
        turned = rng.random() < 0.4
    if past is None:
        past = rng.random() < 0.6
    filling = _Clause(rng, about, positive != turned, past, pronoun)
    return rng.choice(_TURNED if turned else _PLAIN)(filling)


def aspect(rng: random.Random, about: str) -> str:
    """A part of a topic that opinions can be about."""
    return rng.choice(_words(about))


def verdict(rng: random.Random, positive: bool, about: str = "", turned: float = 0.4) -> Node:
    """A whole sentence with an overall polarity.

    It has one clause; or two of the same polarity (``and``, ``because``); or two of opposite
    polarity, where the clause after ``but``, or the main clause next to ``although``, decides.
    """
    about = about or topic(rng)
    past = rng.random() < 0.6

    def clause(noun: str, polarity: bool) -> Node:
        return opinion(rng, noun, polarity, turned=rng.random() < turned, past=past)

    shape = rng.choice(("one", "one", "one", "and", "because", "but", "but", "although"))
    if shape == "one":
        return clause(about if rng.random() < 0.6 else aspect(rng, about), positive)
    part = aspect(rng, about)
    if shape in ("and", "because"):
        first, second = clause(about, positive), clause(part, positive)
    else:
        first, second = clause(part, not positive), clause(about, positive)
    if shape in ("and", "but"):
        second.dep = "conj"
        return first.after(punctuation(","), Node(shape, "CC", "cc"), second)
    reason = second if shape == "because" else first
    reason.dep = "advcl"
    reason.left.insert(0, Node(shape, "IN", "mark"))
    if shape == "because":
        return first.after(reason)
    if rng.random() < 0.5:
        second.left[:0] = [reason, punctuation(",")]
        return second
    return second.after(punctuation(","), reason)
