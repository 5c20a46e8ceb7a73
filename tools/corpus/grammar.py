"""Generate English sentences with gold annotation from meanings.

A meaning is an :class:`Event` (a verb with its participants) or, with the verb ``be``, a state.
:class:`Realiser` turns it into a dependency tree of :class:`Node`, with voice, word order and
synonyms given by a :class:`Form`; :func:`finish` turns the tree into a :class:`Sentence` whose
tokens carry Penn tags, heads, ClearNLP dependency labels and character spans.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

from tools.corpus.lexicon import Modifier, Noun, Verb, inflect, plural

BE = Verb(("be",), "", (), (), ("Entity",), "any", "s")

# ---------------------------------------------------------------------------- annotated sentences


@dataclass(frozen=True)
class Token:
    """One token.

    Attributes:
        text: The token as written in the sentence.
        start: First character.
        end: Character after the last.
        tag: Penn part of speech.
        head: Index of the head; the root is its own head.
        dep: ClearNLP dependency label.
        antecedent: Index of the token that a pronoun refers to, if it is in the sentence.
    """

    text: str
    start: int
    end: int
    tag: str
    head: int
    dep: str
    antecedent: int | None = None


@dataclass(frozen=True)
class Link:
    """A predicate and one of its core elements.

    Attributes:
        predicate: Index of the predicate's token.
        start: First token of the element.
        end: Token after the last of the element.
        role: Name of the element, such as Agent.
    """

    predicate: int
    start: int
    end: int
    role: str


@dataclass(frozen=True)
class Sentence:
    """A sentence with its gold annotation.

    Attributes:
        text: The sentence as written.
        tokens: Its tokens.
        links: Predicates and their core elements.
        referents: Name of what each token refers to within a text; empty if it does not refer.
    """

    text: str
    tokens: tuple[Token, ...]
    links: tuple[Link, ...] = ()
    referents: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: its annotation alone, without what holds within a text."""
        values = asdict(self)
        del values["referents"]
        return values


# ------------------------------------------------------------------------------------------ trees


@dataclass(eq=False)
class Node:
    """A word of a dependency tree with its dependents in order.

    Attributes:
        text: The word.
        tag: Penn part of speech.
        dep: Label of the arc to its head.
        left: Dependents before the word.
        right: Dependents after it.
        glued: Whether it is written without a space before it.
        key: Referent of nouns and pronouns.
        links: Core elements (node, role) of a predicate.
    """

    text: str
    tag: str
    dep: str = "dep"
    left: list[Node] = field(default_factory=list)
    right: list[Node] = field(default_factory=list)
    glued: bool = False
    key: str = ""
    links: list[tuple[Node, str]] = field(default_factory=list)

    def before(self, *nodes: Node) -> Node:
        """Append dependents that precede the word."""
        self.left.extend(nodes)
        return self

    def after(self, *nodes: Node) -> Node:
        """Append dependents that follow the word."""
        self.right.extend(nodes)
        return self

    def walk(self) -> Iterator[Node]:
        """All nodes of the subtree, in the order of the sentence."""
        for child in self.left:
            yield from child.walk()
        yield self
        for child in self.right:
            yield from child.walk()


def punctuation(text: str) -> Node:
    """A punctuation mark that follows the word before it."""
    return Node(text, "." if text in ".?!" else text, "punct", glued=True)


@cache
def _parse(template: str) -> tuple[tuple[str, str, str, int], ...]:
    parsed = []
    for item in template.split():
        text, *tag, dep, head = item.split("/")
        parsed.append((text, "".join(tag), dep, int(head)))
    return tuple(parsed)


def phrase(template: str, **slots: Node) -> Node:
    """Build a tree from ``word/TAG/label/head`` items; heads count from 1, the root's head is 0.

    ``{name}/label/head`` inserts a subtree. An empty label in the root leaves its label unset.
    """
    items = _parse(template)
    nodes = []
    for text, tag, dep, _ in items:
        if text.startswith("{"):
            node = slots[text[1:-1]]
            node.dep = dep or node.dep
        else:
            node = Node(text, tag, dep, glued=text in ",.?!" or text.startswith(("'", "n't")))
        nodes.append(node)
    top = next(i for i, item in enumerate(items) if item[3] == 0)
    # A slot has dependents of its own; those from the template go outside them.
    for i, (*_, head) in enumerate(items):
        if head and i >= head:
            nodes[head - 1].right.append(nodes[i])
    for i in range(len(items) - 1, -1, -1):
        head = items[i][3]
        if head and i < head - 1:
            nodes[head - 1].left.insert(0, nodes[i])
    return nodes[top]


_AN = ("hour", "honest", "heir")
_A = ("uni", "use", "euro", "one", "ukulele")


def _article(following: str) -> str:
    word = following.lower()
    vowel = word.startswith(_AN) or (word[0] in "aeiou" and not word.startswith(_A))
    return "an" if vowel else "a"


_PRONOUN_TAGS = ("PRP", "PRP$", "WP", "WDT")


def _antecedents(nodes: list[Node]) -> dict[int, int]:
    """Antecedent of each personal pronoun: the nearest noun before it, or else a pronoun."""
    found = {}
    for i, node in enumerate(nodes):
        if node.tag not in ("PRP", "PRP$") or not node.key:
            continue
        earlier = [j for j in range(i) if nodes[j].key == node.key]
        names = [j for j in earlier if nodes[j].tag not in _PRONOUN_TAGS]
        if names or earlier:
            found[i] = (names or earlier)[-1]
    return found


def finish(root: Node, end: str = ".") -> Sentence:
    """Turn a tree into a sentence with a final punctuation mark (unless ``end`` is empty)."""
    root.dep = "root"
    if end:
        root.after(punctuation(end))
    nodes = list(root.walk())
    place = {id(node): i for i, node in enumerate(nodes)}
    heads = list(range(len(nodes)))
    for i, node in enumerate(nodes):
        for child in (*node.left, *node.right):
            heads[place[id(child)]] = i
    antecedents = _antecedents(nodes)
    text, tokens = "", []
    for i, node in enumerate(nodes):
        word = node.text
        if node.tag == "DT" and word == "a":
            word = _article(nodes[i + 1].text)
        if i == 0:
            word = word[0].upper() + word[1:]
        text += "" if i == 0 or node.glued else " "
        start = len(text)
        text += word
        tokens.append(
            Token(word, start, len(text), node.tag, heads[i], node.dep, antecedents.get(i))
        )
    links = []
    for i, node in enumerate(nodes):
        for element, role in node.links:
            span = [place[id(part)] for part in element.walk()]
            links.append(Link(i, min(span), max(span) + 1, role))
    return Sentence(text, tuple(tokens), tuple(links), tuple(node.key for node in nodes))


# --------------------------------------------------------------------------------------- meanings


@dataclass(frozen=True)
class Thing:
    """A participant: the referent of a noun phrase.

    Attributes:
        key: Identity within a text.
        noun: Its noun or name.
        number: Its number; 1 is singular, 0 is a plural of unknown number.
        definite: Whether it takes ``the`` (names take no article).
        adjectives: Its properties.
        gender: ``f``, ``m`` or ``n``: she, he, it.
        owner: Its owner.
        other: A second participant joined by ``and``.
        surname: Family name.
        clause: A relative clause in which this thing fills the slot named second.
        pronoun: A fixed pronoun instead of a noun phrase (I, you, we, nobody, everyone ...).
        joiner: Conjunction before ``other``: ``and``, or ``nor`` for *neither ... nor*.
        determiner: Determiner instead of an article: no, every, this ...
    """

    key: str
    noun: Noun
    number: int = 1
    definite: bool = True
    adjectives: tuple[Modifier, ...] = ()
    gender: str = "n"
    owner: Thing | None = None
    other: Thing | None = None
    surname: str = ""
    clause: tuple[Event, str] | None = None
    pronoun: str = ""
    joiner: str = "and"
    determiner: str = ""

    @property
    def plural(self) -> bool:
        """Whether the verb agrees with it as a plural."""
        return self.number != 1 or (self.other is not None and self.joiner == "and")

    @property
    def pronoun_key(self) -> str:
        """Which set of pronouns stands for it."""
        return "p" if self.plural else self.gender


@dataclass(frozen=True)
class Place:
    """A place: a preposition and a noun phrase."""

    preposition: str
    thing: Thing


@dataclass(frozen=True)
class Time:
    """A time: a phrase template, the tenses it goes with, and a class of exclusive times."""

    template: str
    tense: str
    kind: str


@dataclass(frozen=True)
class Event:
    """A verb with its participants and circumstances.

    Attributes:
        verb: The verb; ``BE`` for a state.
        agent: Subject of the active sentence.
        theme: Direct object.
        recipient: Indirect object.
        complement: Predicate of ``BE``: an adjective or a participant.
        tense: past, present, future, perfect or progressive.
        negative: Whether it is negated.
        place: Where it happens.
        time: When it happens.
        manner: Manner adverb.
        companion: Who takes part with the agent.
        reason: Reason, a state of a participant.
        degree: Adverb of the adjective after ``BE``.
    """

    verb: Verb
    agent: Thing
    theme: Thing | None = None
    recipient: Thing | None = None
    complement: Modifier | Thing | None = None
    tense: str = "past"
    negative: bool = False
    place: Place | None = None
    time: Time | None = None
    manner: Modifier | None = None
    companion: Thing | None = None
    reason: Event | None = None
    degree: str = ""


@dataclass(frozen=True)
class Form:
    """How a meaning is expressed.

    Attributes:
        passive: Passive voice, where the verb has one.
        fronted: Time (or else place) at the beginning.
        contracted: ``n't`` rather than ``not``.
        never: ``never`` rather than ``not``, where the tense allows it.
        shifted: ``gave the letter to Tom`` rather than ``gave Tom the letter``.
        early: Manner adverb before the verb rather than after it.
        agentless: A passive without its agent.
    """

    passive: bool = False
    fronted: bool = False
    contracted: bool = False
    never: bool = False
    shifted: bool = False
    early: bool = False
    agentless: bool = False


def draw_form(rng: random.Random, passive: float = 0.35) -> Form:
    """Draw a random form."""
    return Form(
        passive=rng.random() < passive,
        fronted=rng.random() < 0.3,
        contracted=rng.random() < 0.5,
        never=rng.random() < 0.15,
        shifted=rng.random() < 0.5,
        early=rng.random() < 0.4,
    )


_PRONOUNS = {
    "f": ("she", "her", "her"),
    "m": ("he", "him", "his"),
    "n": ("it", "it", "its"),
    "p": ("they", "them", "their"),
    "I": ("I", "me", "my"),
    "you": ("you", "you", "your"),
    "we": ("we", "us", "our"),
}
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_CONTRACTIONS = {"will": "wo", "can": "ca"}
_SUBJECT, _OBJECT, _OWNER = 0, 1, 2


def be(tag: str, plural_subject: bool, first: bool = False) -> str:
    """Form of *be* for a Penn tag; ``first`` is for *I*."""
    if tag == "VBD":
        return "were" if plural_subject else "was"
    if tag == "VBP":
        return "am" if first else "are"
    return {"VBZ": "is", "VB": "be", "VBN": "been", "VBG": "being"}[tag]


@dataclass
class Realiser:
    """Expresses meanings; remembers the chosen words and mentioned participants of a text.

    Attributes:
        rng: Random number generator for free choices (synonyms).
        variety: Probability of a synonym other than the first.
        pronominal: Keys expressed as pronouns from the start.
        introduced: Keys already mentioned with an indefinite article.
    """

    rng: random.Random
    variety: float = 0.4
    pronominal: frozenset[str] = frozenset()
    introduced: set[str] = field(default_factory=set)
    _chosen: dict[tuple[str, ...], str] = field(default_factory=dict)
    _mentioned: dict[str, str] = field(default_factory=dict)
    _subject: str = ""

    def word(self, words: tuple[str, ...]) -> str:
        """One of several synonyms, the same throughout the text."""
        if words not in self._chosen:
            other = len(words) > 1 and self.rng.random() < self.variety
            self._chosen[words] = self.rng.choice(words[1:]) if other else words[0]
        return self._chosen[words]

    # ------------------------------------------------------------------------------ noun phrases

    def _as_pronoun(self, thing: Thing) -> bool:
        if thing.key in self.pronominal:
            return True
        if thing.key not in self._mentioned:
            return False
        # Use a noun if the pronoun would be ambiguous, unless it refers to the subject.
        if thing.key == self._subject:
            return True
        kind = self._mentioned[thing.key]
        return all(k == thing.key or v != kind for k, v in self._mentioned.items())

    def noun_phrase(self, thing: Thing, dep: str = "dep", case: int = _OBJECT) -> Node:
        """A participant as a noun phrase or pronoun.

        Args:
            thing: What it refers to.
            dep: Dependency label.
            case: 0 subject, 1 object, 2 possessive.
        """
        if thing.pronoun in _PRONOUNS:
            tag = "PRP$" if case == _OWNER else "PRP"
            return Node(_PRONOUNS[thing.pronoun][case], tag, dep, key=thing.key)
        if thing.pronoun:
            return Node(thing.pronoun, "NN", dep, key=thing.key)
        if self._as_pronoun(thing):
            tag = "PRP$" if case == _OWNER else "PRP"
            self._mentioned[thing.key] = thing.pronoun_key
            return Node(_PRONOUNS[thing.pronoun_key][case], tag, dep, key=thing.key)
        node = self._name(thing) if thing.noun.proper else self._common(thing)
        node.dep, node.key = dep, thing.key
        if thing.other:
            other = self.noun_phrase(thing.other, "conj", case)
            if thing.joiner == "nor":
                node.left.insert(0, Node("neither", "CC", "preconj"))
            node.after(Node(thing.joiner, "CC", "cc"), other)
        self._mentioned[thing.key] = thing.pronoun_key
        if thing.clause:
            node.after(self._relative(thing))
        return node

    def _name(self, thing: Thing) -> Node:
        first = thing.noun.words[0]
        if not thing.surname:
            return Node(first, "NNP")
        return Node(thing.surname, "NNP").before(Node(first, "NNP", "compound"))

    def _common(self, thing: Thing) -> Node:
        lemma = self.word(thing.noun.words)
        node = Node(plural(lemma) if thing.number != 1 else lemma, "NN")
        node.tag = "NNS" if thing.number != 1 else "NN"
        if thing.owner:
            node.before(self._owner(thing.owner))
        elif thing.determiner:
            node.before(Node(thing.determiner, "DT", "det"))
        elif thing.definite or thing.key in self.introduced:
            node.before(Node("the", "DT", "det"))
        elif thing.number == 1:
            node.before(Node("a", "DT", "det"))
        self.introduced.add(thing.key)
        if thing.number > 1:
            node.before(Node(_NUMBERS[thing.number], "CD", "nummod"))
        for adjective in thing.adjectives:
            node.before(Node(self.word(adjective.words), "JJ", "amod"))
        return node

    def _owner(self, owner: Thing) -> Node:
        node = self.noun_phrase(owner, "poss", _OWNER)
        if node.tag != "PRP$":
            mark = "'" if owner.number != 1 and node.text.endswith("s") else "'s"
            node.after(Node(mark, "POS", "case", glued=True))
        return node

    def _relative(self, thing: Thing) -> Node:
        assert thing.clause is not None
        event, slot = thing.clause
        return self.clause(event, Form(passive=False), dep="relcl", relative=slot)

    # ------------------------------------------------------------------------------------ clauses

    def _verb_group(
        self, event: Event, form: Form, passive: bool, inverted: bool, subject: Thing
    ) -> tuple[list[Node], Node]:
        """Auxiliaries (with the negation) and the main verb, agreeing with the subject."""
        auxiliary = {"future": "will", "perfect": "have", "progressive": "be"}.get(event.tense)
        chain = [(auxiliary, "aux")] if auxiliary else []
        if passive:
            chain.append(("be", "auxpass"))
        never = event.negative and self._says_never(event, form)
        main = self.word(event.verb.words)
        if not chain and main != "be" and (inverted or (event.negative and not never)):
            chain.append(("do", "aux"))
        chain.append((main, ""))
        many, first = subject.plural or subject.pronoun in ("you", "we"), subject.pronoun == "I"
        past = event.tense in ("past", "progressive")
        tag = "VBD" if past else "VBP" if many or first else "VBZ"
        nodes = []
        for i, (lemma, dep) in enumerate(chain):
            if i:
                before = chain[i - 1]
                tag = {"have": "VBN", "will": "VB", "do": "VB"}.get(before[0], "")
                tag = tag or ("VBN" if before[1] == "auxpass" else "VBG")
            if lemma == "will":
                nodes.append(Node("will", "MD", dep))
            else:
                form_of = be(tag, many, first) if lemma == "be" else inflect(lemma, tag)
                nodes.append(Node(form_of, tag, dep))
        return nodes[:-1], nodes[-1]

    def _says_never(self, event: Event, form: Form) -> bool:
        return form.never and event.tense in ("past", "present", "perfect") and event.time is None

    def _negation(self, form: Form, event: Event, aux: Node | None) -> Node:
        """``not`` or ``n't`` after the auxiliary, whose form may change, or ``never``."""
        if self._says_never(event, form):
            return Node("never", "RB", "neg")
        if aux is not None and form.contracted and aux.text != "am":
            aux.text = _CONTRACTIONS.get(aux.text, aux.text)
            return Node("n't", "RB", "neg", glued=True)
        return Node("not", "RB", "neg")

    def clause(
        self,
        event: Event,
        form: Form,
        dep: str = "root",
        *,
        relative: str = "",
        ask: str = "",
        mark: str = "",
    ) -> Node:
        """An event as a clause; the node returned is its verb.

        Args:
            event: The meaning.
            form: How to express it.
            dep: Label of the verb.
            relative: In a relative clause, the slot of the pronoun: ``agent`` or ``theme``.
            ask: In a question, the slot it asks for: ``yesno``, ``agent``, ``theme``, ``place``,
                ``time``, ``manner``, ``reason`` or ``count`` (of the theme).
            mark: Subordinating conjunction.
        """
        passive = self._is_passive(event, form, relative or ask)
        # Avoids the clumsy "was helped by Tom openly".
        form = replace(form, early=form.early or passive)
        subject_slot = "theme" if passive else "agent"
        subject = event.theme if passive else event.agent
        assert subject is not None
        inverted = bool(ask) and ask != subject_slot and not (ask == "count" and passive)
        front = self._front(event, form) if not (relative or ask or mark) else None
        subject_node = self._argument(
            subject_slot, subject, "nsubjpass" if passive else "nsubj", relative, ask
        )
        self._subject = subject.key
        fixed = subject_node.tag in ("WP", "WDT") and ask == subject_slot
        agreeing = replace(subject, number=1, other=None) if fixed else subject
        auxiliaries, verb = self._verb_group(event, form, passive, inverted, agreeing)
        verb.dep = dep
        if mark:
            verb.before(Node(mark, "IN", "mark"))
        if front is not None:
            verb.before(front, punctuation(","))
        if inverted and ask != "yesno":
            verb.before(self._question_word(ask, event))
        if relative == "theme" and not passive:
            verb.before(self._relative_pronoun(event.theme, "dobj"))
        if ask == "manner":
            event = replace(event, manner=None)
        self._place_subject(event, form, verb, auxiliaries, subject_node, inverted)
        self._complements(event, form, verb, passive, subject_node)
        self._circumstances(event, form, verb, front, ask)
        return verb

    def _is_passive(self, event: Event, form: Form, slot: str) -> bool:
        possible = (
            event.theme is not None
            and event.recipient is None
            and "n" not in event.verb.flags
            and event.verb.words != ("be",)
            and event.agent.pronoun not in _PRONOUNS
        )
        return form.passive and possible and slot not in ("agent", "theme")

    def _argument(self, slot: str, thing: Thing, dep: str, relative: str, ask: str) -> Node:
        """A subject: a noun phrase, a relative pronoun or a question word."""
        if relative == slot:
            return self._relative_pronoun(thing, dep)
        if ask == slot:
            return Node("who" if thing.noun.animate else "what", "WP", dep)
        if ask == "count" and slot == "theme":
            node = self.noun_phrase(replace(thing, number=0, definite=False, owner=None), dep)
            many = Node("many", "JJ", "amod").before(Node("how", "WRB", "advmod"))
            node.left = [many, *(n for n in node.left if n.dep == "amod")]
            return node
        return self.noun_phrase(thing, dep, _SUBJECT)

    def _relative_pronoun(self, thing: Thing | None, dep: str) -> Node:
        person = thing is not None and thing.noun.animate
        word, tag = ("who", "WP") if person and dep == "nsubj" else ("that", "WDT")
        return Node(word, tag, dep, key=thing.key if thing else "")

    def _question_word(self, ask: str, event: Event) -> Node:
        if ask == "theme":
            person = event.theme is not None and event.theme.noun.animate
            return Node("who" if person else "what", "WP", "dobj")
        if ask == "count":
            assert event.theme is not None
            return self._argument("theme", event.theme, "dobj", "", "count")
        word = {"place": "where", "time": "when", "manner": "how", "reason": "why"}[ask]
        return Node(word, "WRB", "advmod")

    def _place_subject(
        self,
        event: Event,
        form: Form,
        verb: Node,
        auxiliaries: list[Node],
        subject: Node,
        inverted: bool,
    ) -> None:
        """Put subject, auxiliaries, negation and an early adverb before the verb."""
        copula = event.verb.words == ("be",) and not auxiliaries
        first, rest = auxiliaries[:1], auxiliaries[1:]
        negation = []
        if event.negative:
            how = replace(form, never=form.never and not copula)
            negation = [self._negation(how, event, verb if copula else (*first, None)[0])]
        # In a question, only n't stays with the auxiliary: "did not Anna" is ungrammatical.
        glued, loose = ([n for n in negation if n.glued == which] for which in (True, False))
        if copula and inverted:
            verb.after(*glued, subject, *loose)
        elif copula:
            verb.before(subject).after(*negation)
        elif inverted:
            verb.before(*first, *glued, subject, *loose, *rest)
        else:
            verb.before(subject, *first, *negation, *rest)
        if event.manner and form.early and not copula:
            verb.before(Node(self.word(event.manner.words), "RB", "advmod"))

    def _complements(
        self, event: Event, form: Form, verb: Node, passive: bool, subject: Node
    ) -> None:
        """Object, recipient, by-phrase or predicate, and the links to the core elements."""
        roles = event.verb.roles
        if event.complement is not None:
            complement = self._predicate(event)
            verb.after(complement)
            complement.links.append((subject, roles[0]))
            return
        fronted = next((n for n in verb.left if n.dep == "dobj"), None)
        if passive:
            verb.links.append((subject, roles[1]))
            if not form.agentless:
                by = Node("by", "IN", "agent").after(self.noun_phrase(event.agent, "pobj"))
                verb.after(by)
                verb.links.append((by, roles[0]))
            return
        verb.links.append((subject, roles[0]))
        if event.theme is None:
            return
        if fronted is not None:
            theme = fronted
        elif event.recipient is not None and not form.shifted and not self._as_pronoun(event.theme):
            recipient = self.noun_phrase(event.recipient, "dative")
            theme = self.noun_phrase(event.theme, "dobj")
            verb.after(recipient, theme)
            verb.links += [(theme, roles[1]), (recipient, roles[2])]
            return
        else:
            theme = self.noun_phrase(event.theme, "dobj")
            verb.after(theme)
        verb.links.append((theme, roles[1]))
        if event.recipient is not None:
            to = Node("to", "IN", "dative").after(self.noun_phrase(event.recipient, "pobj"))
            verb.after(to)
            verb.links.append((to, roles[2]))

    def _predicate(self, event: Event) -> Node:
        if isinstance(event.complement, Thing):
            return self.noun_phrase(event.complement, "attr")
        assert event.complement is not None
        node = Node(self.word(event.complement.words), "JJ", "acomp")
        if event.degree:
            node.before(Node(event.degree, "RB", "advmod"))
        return node

    def place_phrase(self, place: Place) -> Node:
        """A place as a prepositional phrase."""
        thing = self.noun_phrase(place.thing, "pobj")
        return Node(place.preposition, "IN", "prep").after(thing)

    def _front(self, event: Event, form: Form) -> Node | None:
        if not form.fronted:
            return None
        if event.time is not None:
            return phrase(event.time.template)
        if event.place is not None:
            return self.place_phrase(event.place)
        return None

    def _circumstances(
        self, event: Event, form: Form, verb: Node, front: Node | None, ask: str
    ) -> None:
        """Manner, companion, place, time and reason after the verb."""
        copula = event.verb.words == ("be",)
        if event.manner and (not form.early or copula):
            verb.after(Node(self.word(event.manner.words), "RB", "advmod"))
        if event.companion is not None:
            companion = self.noun_phrase(event.companion, "pobj")
            verb.after(Node("with", "IN", "prep").after(companion))
        front_is_place = front is not None and event.time is None
        if event.place is not None and not front_is_place and ask != "place":
            verb.after(self.place_phrase(event.place))
        if event.time is not None and front is None and ask != "time":
            verb.after(phrase(event.time.template))
        if event.reason is not None and ask != "reason":
            verb.after(self.clause(event.reason, form, "advcl", mark="because"))


def coordinate(
    first: Node, realiser: Realiser, event: Event, form: Form, conjunction: str = "and"
) -> Node:
    """Join a second event to a clause, omitting its subject if it is the same."""
    form = replace(form, fronted=False, passive=False)
    shared = next((n for n in first.left if n.dep in ("nsubj", "nsubjpass")), None)
    second = realiser.clause(event, form, "conj")
    subject = next(n for n in second.left if n.dep == "nsubj")
    if shared is not None and event.agent.key == shared.key and not event.negative:
        second.left.remove(subject)
        second.links = [(shared if n is subject else n, role) for n, role in second.links]
    else:
        first.after(punctuation(","))
    return first.after(Node(conjunction, "CC", "cc"), second)


def say(
    event: Event,
    rng: random.Random,
    form: Form | None = None,
    *,
    pronominal: frozenset[str] = frozenset(),
    variety: float = 0.4,
) -> Sentence:
    """An event as a statement, in a random form unless one is given."""
    realiser = Realiser(rng, variety, pronominal)
    return finish(realiser.clause(event, form or draw_form(rng)))


def question(
    event: Event,
    ask: str,
    rng: random.Random,
    form: Form | None = None,
    *,
    pronominal: frozenset[str] = frozenset(),
    variety: float = 0.4,
) -> Sentence:
    """A question about an event (see ``Realiser.clause`` for ``ask``)."""
    realiser = Realiser(rng, variety, pronominal)
    return finish(realiser.clause(event, form or draw_form(rng), ask=ask), "?")
