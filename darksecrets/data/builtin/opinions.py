"""Opinions whose polarity depends on more than single words: negation and contrast reverse it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from darksecrets.data.builtin.grammar import Node, phrase, punctuation
from darksecrets.data.builtin.lexicon import FOLDER, inflect, names, nouns_of
from darksecrets.data.builtin.scenes import pick

_TOPICS = (
    *("film", "novel", "book", "play", "concert", "album", "restaurant", "hotel"),
    *("exhibition", "lecture", "phone", "documentary", "musical"),
)


@cache
def _words(kind: str) -> tuple[str, ...]:
    lines = (FOLDER / "opinions.tsv").read_text(encoding="utf-8").splitlines()[1:]
    table = dict(line.split("\t") for line in lines)
    return tuple(table[kind].split())


def topic(rng: random.Random) -> str:
    """Something people have opinions on."""
    return rng.choice(_TOPICS)


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


@dataclass
class _Clause:
    """Fillers of the patterns of :func:`opinion`."""

    rng: random.Random
    about: str
    positive: bool
    past: bool
    pronoun: bool

    def side(self, kind: str = "") -> str:
        name = "positive" if self.positive else "negative"
        return pick(self.rng, _words(f"{name}_{kind}" if kind else name))

    def subject(self, dep: str = "nsubj") -> Node:
        many = _is_plural(self.about)
        if self.pronoun:
            nominative = "they" if many else "it"
            return Node("them" if many and dep != "nsubj" else nominative, "PRP", dep, key="about")
        head = Node(self.about, "NNS" if many else "NN", dep, key="about")
        return head.before(Node("the", "DT", "det"))

    def be(self) -> tuple[str, str]:
        many = _is_plural(self.about)
        if self.past:
            return ("were" if many else "was"), "VBD"
        return ("are" if many else "is"), ("VBP" if many else "VBZ")

    def copula(self, complement: Node, *negation: Node) -> Node:
        form, tag = self.be()
        verb = Node(form, tag, "root")
        subject = self.subject()
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
            most = Node(self.rng.choice(("most", "many", "the", "some")), "JJ", "amod")
            if most.text in ("the", "some"):
                most.tag, most.dep = "DT", "det"
            return Node(word, "NNS", "nsubj", key="judge").before(most), True
        occupation = pick(self.rng, nouns_of("person")).words[0]
        the = Node("the", "DT", "det")
        return Node(occupation, "NN", "nsubj", key="judge").before(the), False

    def adverb(self) -> Node | None:
        if self.rng.random() < 0.45:
            return None
        degrees = ("very", "really", "quite", "truly", "rather", "so", "extremely", "incredibly")
        return Node(self.rng.choice(degrees), "RB", "advmod")

    def adjective(self) -> Node:
        node = Node(self.side(), "JJ", "acomp")
        degree = self.adverb()
        return node.before(degree) if degree else node

    def not_(self) -> Node:
        if self.rng.random() < 0.5:
            return Node("n't", "RB", "neg", glued=True)
        return Node("not", "RB", "neg")


# Patterns that keep the polarity of their word ...
def _plain_adjective(c: _Clause) -> Node:
    return c.copula(c.adjective())


def _plain_noun(c: _Clause) -> Node:
    noun = Node(c.side("noun"), "NN", "attr").before(Node("a", "DT", "det"))
    if c.rng.random() < 0.5:
        degree = c.rng.choice(("real", "great", "complete", "total", "small"))
        noun.before(Node(degree, "JJ", "amod"))
    return c.copula(noun)


def _plain_verb(c: _Clause) -> Node:
    subject, many = c.judge()
    lemma = c.side("verb")
    tag = "VBD" if c.past else "VBP" if many else "VBZ"
    verb = Node(inflect(lemma, tag), tag, "root")
    target = c.subject("dobj")
    verb.links += [(subject, "Experiencer"), (target, "Content")]
    return verb.before(subject).after(target)


def _plain_quality(c: _Clause) -> Node:
    full = Node("full", "JJ", "acomp")
    quality = c.side("quality")
    tag = "NNS" if _is_plural(quality) else "NN"
    of = Node("of", "IN", "prep").after(Node(quality, tag, "pobj"))
    return c.copula(full.after(of))


def _plain_both(c: _Clause) -> Node:
    one, other = c.rng.sample(_words("positive" if c.positive else "negative"), 2)
    head = Node(one, "JJ", "acomp").after(Node("and", "CC", "cc"), Node(other, "JJ", "conj"))
    return c.copula(head)


# ... and patterns that reverse it.
def _not_adjective(c: _Clause) -> Node:
    negation = c.not_()
    form, tag = c.be()
    verb = Node(form, tag, "root")
    subject, adjective = c.subject(), c.adjective()
    adjective.links.append((subject, "Entity"))
    verb.before(subject).after(negation, adjective)
    if c.rng.random() < 0.25:
        adjective.after(phrase("at/IN/advmod/0 all/DT/pobj/1"))
    return verb


def _never_adjective(c: _Clause) -> Node:
    word = c.rng.choice(("never", "hardly"))
    return c.copula(c.adjective(), Node(word, "RB", "neg" if word == "never" else "advmod"))


def _far_from(c: _Clause) -> Node:
    adjective = Node(c.side(), "JJ", "pcomp")
    return c.copula(Node("far", "RB", "acomp").after(Node("from", "IN", "prep").after(adjective)))


def _anything_but(c: _Clause) -> Node:
    adjective = Node(c.side(), "JJ", "pobj")
    but = Node("but", "IN", "prep").after(adjective)
    return c.copula(Node("anything", "NN", "attr").after(but))


def _neither(c: _Clause) -> Node:
    one, other = c.rng.sample(_words("positive" if c.positive else "negative"), 2)
    head = Node(one, "JJ", "acomp").before(Node("neither", "CC", "preconj"))
    return c.copula(head.after(Node("nor", "CC", "cc"), Node(other, "JJ", "conj")))


def _no_noun(c: _Clause) -> Node:
    return c.copula(Node(c.side("noun"), "NN", "attr").before(Node("no", "DT", "det")))


def _not_verb(c: _Clause) -> Node:
    subject, many = c.judge()
    lemma = c.side("verb")
    target = c.subject("dobj")
    if c.rng.random() < 0.3:
        nobody = Node(c.rng.choice(("nobody", "none")), "NN", "nsubj")
        if nobody.text == "none":
            nobody.after(phrase("of/IN/prep/0 us/PRP/pobj/1"))
        tag = "VBD" if c.past else "VBZ"
        verb = Node(inflect(lemma, tag), tag, "root").before(nobody)
        subject = nobody
    else:
        tag = "VBD" if c.past else "VBP" if many else "VBZ"
        do = Node(inflect("do", tag), tag, "aux")
        verb = Node(lemma, "VB", "root").before(subject, do, c.not_())
    verb.links += [(subject, "Experiencer"), (target, "Content")]
    return verb.after(target)


def _lacks_quality(c: _Clause) -> Node:
    quality = c.side("quality")
    node = Node(quality, "NNS" if _is_plural(quality) else "NN", "dobj")
    subject = c.subject()
    many = _is_plural(c.about)
    tag = "VBD" if c.past else "VBP" if many else "VBZ"
    verb = Node(inflect("have", tag), tag, "root").before(subject)
    verb.links.append((subject, "Owner"))
    return verb.after(node.before(Node("no", "DT", "det")))


def _nothing_about(c: _Clause) -> Node:
    form, tag = ("was", "VBD") if c.past else ("is", "VBZ")
    about = Node("about", "IN", "prep").after(c.subject("pobj"))
    nothing = Node("nothing", "NN", "nsubj").after(about)
    adjective = Node(c.side(), "JJ", "acomp")
    adjective.links.append((nothing, "Entity"))
    return Node(form, tag, "root").before(nothing).after(adjective)


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
    part, whole = aspect(rng, about), about
    if shape in ("and", "because"):
        main = clause(whole, positive)
        second = clause(part, positive)
        if shape == "and":
            second.dep = "conj"
            return main.after(punctuation(","), Node("and", "CC", "cc"), second)
        second.dep = "advcl"
        second.left.insert(0, Node("because", "IN", "mark"))
        return main.after(second)
    concession = clause(part, not positive)
    decisive = clause(whole, positive)
    if shape == "but":
        decisive.dep = "conj"
        return concession.after(punctuation(","), Node("but", "CC", "cc"), decisive)
    concession.dep = "advcl"
    concession.left.insert(0, Node("although", "IN", "mark"))
    if rng.random() < 0.5:
        decisive.left[:0] = [concession, punctuation(",")]
        return decisive
    return decisive.after(punctuation(","), concession)
