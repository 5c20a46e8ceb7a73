"""Texts for pre-training: a few sentences about the same people and things.

The sentences of a text are related in the ways that the tasks need: pronouns refer to the previous
sentence, questions are answered, statements are paraphrased, summarised, denied or explained, and
words are defined.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tools.corpus import questions, scenes
from tools.corpus.grammar import (
    BE,
    Event,
    Form,
    Node,
    Realiser,
    Sentence,
    Thing,
    coordinate,
    draw_form,
    finish,
    phrase,
    punctuation,
)
from tools.corpus.grammar import question as ask_about
from tools.corpus.lexicon import Noun, adjectives, nouns, verbs
from tools.corpus.opinions import aspect, opinion, topic, verdict

_SOMEONE = Noun(("someone",), "person")


Narrator = Callable[["_Story"], list[Sentence]]


@dataclass
class _Story:
    """Who and what a text is about.

    Attributes:
        rng: Random number generator.
        hero: Main person.
        other: Second person.
        thing: Object that the hero deals with, or ``None``.
        last: The last event told.
    """

    rng: random.Random
    hero: Thing
    other: Thing
    last: Event

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def tell(self, event: Event, *pronouns: Thing, form: Form | None = None) -> Sentence:
        keys = frozenset(thing.key for thing in pronouns)
        realiser = Realiser(self.rng, 0.3, keys)
        return finish(realiser.clause(event, form or draw_form(self.rng, 0.25)))

    def trim(self, event: Event, keep: float = 0.45) -> Event:
        for slot in scenes.SLOTS:
            if not self.chance(keep):
                event = scenes.without(event, slot)
        return event


def _fitting(subject: Thing, theme: Thing, rng: random.Random) -> Event | None:
    """Something the subject may do to the theme, without a recipient."""
    kind = "person" if theme.noun.kind == "name" else theme.noun.kind
    fitting = (v for v in verbs() if kind in v.objects and "person" in v.subjects)
    pool = [v for v in fitting if "d" not in v.flags]
    return scenes.event(rng, rng.choice(pool), agent=subject, theme=theme) if pool else None


def _opening(story: _Story) -> list[Sentence]:
    """Introduce the hero: *Anna is a doctor who lives in Paris*."""
    if not story.hero.noun.proper:
        return []
    rng = story.rng
    job = scenes.common(rng, "person", "job", definite=False)
    if job.noun.gender not in ("", story.hero.gender):
        return []
    job = replace(job, gender=story.hero.gender)
    found = scenes.adjective(rng, job)
    if found and story.chance(0.5):
        job = replace(job, adjectives=(found,))
    realiser = Realiser(rng, 0.3)
    clause = realiser.clause(
        Event(BE, story.hero, complement=job, tense="present"), Form(fronted=False)
    )
    if story.chance(0.4):
        lives = phrase(
            "who/WP/nsubj/2 lives/VBZ/relcl/0 in/IN/prep/2 {city}/pobj/3",
            city=realiser.noun_phrase(scenes.city(rng), "pobj"),
        )
        next(n for n in clause.right if n.dep == "attr").after(lives)
    return [finish(clause)]


def _follow(story: _Story) -> list[Sentence]:
    """The hero does something else with the same thing, both now pronouns."""
    if story.last.theme is None:
        return _mood(story)
    theme = replace(story.last.theme, adjectives=(), definite=True)
    event = _fitting(story.hero, theme, story.rng)
    if event is None:
        return _mood(story)
    event = story.trim(replace(event, tense="past", time=None))
    pronouns = [theme] if theme.noun.kind != "person" else []
    if story.hero.pronoun_key != theme.pronoun_key:
        pronouns = [theme, story.hero]
    elif story.chance(0.5):
        pronouns = [story.hero]
    if story.chance(0.2):
        event = scenes.negate(event)
    return [story.tell(event, *pronouns, form=Form(early=story.chance(0.4)))]


def _mood(story: _Story) -> list[Sentence]:
    """The hero's mood, with the opposite denied: *She was not sad. She was happy*."""
    state = scenes.state(story.rng, story.hero, groups=scenes.REASONS)
    assert state is not None
    said = story.tell(state, story.hero, form=Form())
    denied = scenes.opposite_adjective(state)
    if denied is None or story.chance(0.5):
        return [said]
    pair = [story.tell(scenes.negate(denied), story.hero, form=draw_form(story.rng, 0)), said]
    return pair if story.chance(0.5) else pair[::-1]


def _again(story: _Story) -> list[Sentence]:
    """The last event in other words."""
    lead = story.rng.choice(("In other words", "That is", "", "Indeed", ""))
    base = story.last if story.chance(0.6) else story.trim(story.last, 0.5)
    form = replace(draw_form(story.rng, 0.55), fronted=False)
    return [finish(_lead(Realiser(story.rng, 0.5).clause(base, form), lead))]


_LEADS = {
    "In other words": "in/IN/prep/0 other/JJ/amod/3 words/NNS/pobj/1",
    "That is": "that/DT/nsubj/2 is/VBZ/advcl/0",
    "Indeed": "indeed/RB/advmod/0",
    "In short": "in/IN/prep/0 short/JJ/pcomp/1",
    "So": "so/RB/advmod/0",
    "No": "no/UH/intj/0",
    "Yes": "yes/UH/intj/0",
}


def _lead(root: Node, words: str) -> Node:
    if words:
        root.left[:0] = [phrase(_LEADS[words]), punctuation(",")]
    return root


def _summary(story: _Story) -> list[Sentence]:
    """What follows from the last event: less detail, or a more general word."""
    event = story.trim(story.last, 0.2)
    if event.theme is not None and story.chance(0.6):
        general = scenes.generalise(event.theme)
        event = replace(event, theme=general or event.theme)
    elif story.chance(0.4) and not event.negative:
        event = replace(event, agent=Thing("someone", _SOMEONE, pronoun="someone"))
    root = Realiser(story.rng, 0.3).clause(event, draw_form(story.rng, 0.3))
    return [finish(_lead(root, story.rng.choice(("So", "In short", "", ""))))]


def _askable(event: Event) -> list[str]:
    asked = ["agent", *["theme"] * (event.theme is not None and event.recipient is None)]
    slots = ("place", "place", "time", "time", "manner")
    return asked + [slot for slot in slots if scenes.has(event, slot)]


def _asked(story: _Story) -> list[Sentence]:
    """A question about the last event and its answer."""
    event, rng = story.last, story.rng
    if event.negative:
        return _again(story)
    asked = rng.choice(_askable(event))
    bare = scenes.without(event, "reason")
    for slot in scenes.SLOTS:
        if slot != asked and story.chance(0.6):
            bare = scenes.without(bare, slot)
    question = ask_about(bare, asked, rng, variety=0.3)
    if asked == "agent" and story.chance(0.3):
        return [question, finish(_short_answer(event, rng))]
    keep = {asked} | ({"adjective"} if asked == "theme" else set())
    answer = event
    for slot in scenes.SLOTS:
        if slot not in keep and story.chance(0.6):
            answer = scenes.without(answer, slot)
    pronouns = [event.agent] if asked != "agent" and event.agent.noun.proper else []
    if asked != "theme" and event.theme is not None and event.theme.pronoun_key in "np":
        pronouns.append(event.theme)
    return [question, story.tell(answer, *pronouns, form=Form(early=story.chance(0.3)))]


def _short_answer(event: Event, rng: random.Random) -> Node:
    """A short answer: *Anna did*."""
    subject = Realiser(rng, 0.3).noun_phrase(event.agent, "nsubj")
    many = event.agent.plural
    verb = {
        "future": ("will", "MD"),
        "present": ("do" if many else "does", "VBP" if many else "VBZ"),
        "perfect": ("have" if many else "has", "VBP" if many else "VBZ"),
        "progressive": ("were" if many else "was", "VBD"),
    }.get(event.tense, ("did", "VBD"))
    return Node(*verb).before(subject)


def _yes_or_no(story: _Story) -> list[Sentence]:
    """A yes-or-no question about the last event, answered truthfully."""
    event, rng = story.last, story.rng
    if event.negative:
        return _summary(story)
    bare = story.trim(event, 0.3)
    if story.chance(0.4):
        root = Realiser(rng, 0.3).clause(bare, Form())
        return [ask_about(bare, "yesno", rng), finish(_lead(root, "Yes"))]
    false = _falsified(story, bare)
    if false.negative:
        return _claimed(story)
    question = ask_about(false, "yesno", rng)
    truth = bare if story.chance(0.6) else scenes.negate(false)
    root = Realiser(rng, 0.3).clause(truth, replace(draw_form(rng, 0.2), fronted=False))
    return [question, finish(_lead(root, "No"))]


def _denied(story: _Story) -> list[Sentence]:
    """What did not happen: *Tom did not sell the car. He bought it*."""
    event, rng = story.last, story.rng
    opposite = scenes.opposite_verb(event)
    if opposite is None or event.negative:
        return _nobody(story)
    bare = story.trim(scenes.negate(opposite), 0.3)
    first = story.tell(bare, form=replace(draw_form(rng, 0.1), never=False))
    pronouns = [event.agent] if event.agent.noun.proper else []
    if event.theme is not None and event.theme.pronoun_key != event.agent.pronoun_key:
        pronouns.append(event.theme)
    return [first, story.tell(story.trim(event, 0.2), *pronouns, form=Form())]


def _nobody(story: _Story) -> list[Sentence]:
    """Negative words: nobody, neither ... nor, none of them, nothing, nowhere, no."""
    rng = story.rng
    style = rng.choice(("nobody", "neither", "none", "nothing", "nowhere", "no", "never"))
    people = [story.hero, story.other]
    base = scenes.event(rng, tense="past", full=False)
    while base.recipient is not None or base.agent.noun.kind == "animal":
        base = scenes.event(rng, tense="past", full=False)
    if style == "nobody":
        rng.choice(range(3))  # keeps the texts as they are
        agent = Thing("nobody", _SOMEONE, pronoun="nobody")
        return [story.tell(replace(base, agent=agent), form=Form())]
    if style == "neither" and all(p.noun.proper for p in people):
        pair = replace(story.hero, other=story.other, joiner="nor", key="pair")
        out = [story.tell(replace(base, agent=pair), form=Form())]
        one = scenes.negate(replace(base, agent=rng.choice(people)))
        return [*out, story.tell(one, form=Form(contracted=story.chance(0.5)))]
    if style == "none":
        group = replace(scenes.common(rng, "person", "group"), number=0)
        root = Realiser(rng, 0.3).clause(replace(base, agent=group), Form())
        subject = next(n for n in root.left if n.dep == "nsubj")
        none = Node("none", "NN", "nsubj", key="none")
        root.left[root.left.index(subject)] = none
        root.links = [(none if n is subject else n, role) for n, role in root.links]
        subject.dep = "pobj"
        none.after(Node("of", "IN", "prep").after(subject))
        return [finish(root)]
    if style == "nothing":
        nothing = Thing("nothing", Noun(("nothing",), "item"), pronoun="nothing")
        verb = next(v for v in verbs() if v.words[0] in ("buy", "sell", "find", "eat", "read"))
        return [story.tell(Event(verb, story.hero, nothing), story.hero, form=Form())]
    if style == "nowhere":
        return [finish(_nowhere(story))]
    if style == "no":
        group = replace(scenes.common(rng, "person", "group"), determiner="no")
        return [story.tell(replace(base, agent=group), form=Form())]
    never = replace(base, agent=story.hero, negative=True, time=None)
    return [story.tell(never, story.hero, form=Form(never=True))]


def _nowhere(story: _Story) -> Node:
    """*The key was nowhere to be found* or *She went nowhere*."""
    theme = story.last.theme
    realiser = Realiser(story.rng, 0.3)
    if theme is None or theme.plural or theme.noun.proper:
        subject = realiser.noun_phrase(story.hero, "nsubj", 0)
        return phrase("{who}/nsubj/2 went/VBD/root/0 nowhere/RB/advmod/2", who=subject)
    subject = realiser.noun_phrase(replace(theme, definite=True), "nsubj", 0)
    return phrase(
        "{what}/nsubj/2 was/VBD/root/0 nowhere/RB/advmod/2 to/TO/aux/6 be/VB/auxpass/6 "
        "found/VBN/xcomp/2",
        what=subject,
    )


def _meaning(story: _Story) -> list[Sentence]:
    """What a word means: kinds, synonyms, opposites."""
    rng = story.rng
    if story.chance(0.4):
        entry = rng.choice([n for n in nouns() if n.hypernym and not n.kind.endswith("*")])
        thing = Thing("kind", entry, definite=False)
        theme = story.last.theme
        if theme is not None and theme.noun.hypernym and not theme.noun.proper:
            thing = Thing("kind", theme.noun, definite=False)
        above = scenes.generalise(thing)
        assert above is not None
        if story.chance(0.5):
            thing = replace(thing, determiner="every")
        event = Event(BE, thing, complement=replace(above, key="above"), tense="present")
        return [story.tell(event, form=Form())]
    if story.chance(0.5):
        return [finish(_same_verb(rng))]
    return [finish(_same_adjective(rng))]


def _same_verb(rng: random.Random) -> Node:
    """*To purchase something is to buy it*."""
    entry = rng.choice([v for v in verbs() if len(v.words) > 1 and v.objects])
    one, other = rng.sample(entry.words, 2)
    person = entry.objects[0] == "person"
    return phrase(
        f"to/TO/aux/2 {one}/VB/csubj/4 {{something}}/dobj/2 is/VBZ/root/0 to/TO/aux/6 "
        f"{other}/VB/xcomp/4 {{it}}/dobj/6",
        something=Node("someone" if person else "something", "NN", key="it"),
        it=Node("them" if person else "it", "PRP", key="it"),
    )


def _same_adjective(rng: random.Random) -> Node:
    """*If something is large, it is big* or *... it is not small*."""
    entry = rng.choice([a for a in adjectives() if a.opposite or len(a.words) > 1])
    person = "person" in entry.kinds
    same = len(entry.words) > 1 and (not entry.opposite or rng.random() < 0.5)
    word = rng.choice(entry.words)
    other = rng.choice([w for w in entry.words if w != word] if same else entry.opposite)
    negation = "" if same else " not/RB/neg/7"
    verb = "are/VBP" if person else "is/VBZ"
    return phrase(
        f"if/IN/mark/3 {{something}}/nsubj/3 is/VBZ/advcl/7 {word}/JJ/acomp/3 ,/,/punct/7 "
        f"{{it}}/nsubj/7 {verb}/root/0{negation} {other}/JJ/acomp/7",
        something=Node("someone" if person else "something", "NN", key="it"),
        it=Node("they" if person else "it", "PRP", key="it"),
    )


def _both(story: _Story) -> list[Sentence]:
    """Two events in one sentence, then one of them alone."""
    rng = story.rng
    first = story.trim(scenes.event(rng, agent=story.hero, key="first ", tense="past"), 0.3)
    agent = story.hero if story.chance(0.5) else story.other
    second = story.trim(scenes.event(rng, agent=agent, key="second ", tense="past"), 0.3)
    realiser = Realiser(rng, 0.3)
    joined = coordinate(realiser.clause(first, Form()), realiser, second, Form())
    out = [finish(joined)]
    if story.chance(0.6):
        one = rng.choice((first, second))
        out.append(story.tell(one))
        story.last = one
    return out


def _claimed(story: _Story) -> list[Sentence]:
    """What someone says about the last event, and whether it is true."""
    rng = story.rng
    true = story.chance(0.5)
    event = story.trim(story.last, 0.4)
    event = event if true else _falsified(story, event)
    speaker = scenes.named(rng, "speaker", [story.hero, story.other])
    realiser = Realiser(rng, 0.4)
    who = realiser.noun_phrase(speaker, "nsubj", 0)
    clause = realiser.clause(event, draw_form(rng, 0.3), "ccomp", mark="that")
    word = rng.choice(("said", "thought", "believed", "claimed", "reported"))
    root = Node(word, "VBD", "root").before(who).after(clause)
    root.links = [(who, "Speaker"), (clause, "Message")]
    right = rng.choice(("right", "correct") if true else ("wrong", "mistaken"))
    subject = Realiser(rng, 0.3, frozenset({"speaker"})).noun_phrase(speaker, "nsubj", 0)
    judged = Node(right, "JJ", "acomp", links=[(subject, "Entity")])
    return [finish(root), finish(Node("was", "VBD").before(subject).after(judged))]


def _falsified(story: _Story, event: Event) -> Event:
    """An event changed in one respect."""
    rng = story.rng
    changes = [scenes.opposite_verb(event), scenes.other_theme(event, rng), scenes.swap(event)]
    changes += [scenes.other_place(event, rng), scenes.other_time(event, rng)]
    changes += [scenes.other_agent(event, rng), scenes.opposite_adjective(event)]
    changes += [scenes.negate(event), scenes.other_number(event, rng)]
    return rng.choice([c for c in changes if c is not None])


def _because(story: _Story) -> list[Sentence]:
    """An event with its reason, or a question for it."""
    rng = story.rng
    event = story.trim(scenes.event(rng, key="why ", agent=story.hero, tense="past"), 0.3)
    reason = scenes.state(rng, story.hero, groups=scenes.REASONS)
    event = replace(event, reason=reason)
    story.last = replace(event, reason=None)
    out = [story.tell(event, form=Form(early=story.chance(0.5)))]
    if story.chance(0.4) and reason is not None:
        out += [
            ask_about(event, "reason", rng, Form()),
            story.tell(reason, story.hero, form=Form()),
        ]
    return out


def _detail(story: _Story) -> list[Sentence]:
    """What the thing was like: *The car was not cheap. It was expensive*."""
    theme = story.last.theme
    if theme is None:
        return _because(story)
    theme = replace(theme, adjectives=(), definite=True)
    state = scenes.state(story.rng, theme)
    if state is None:
        return _because(story)
    if story.last.theme and story.last.theme.adjectives and story.chance(0.5):
        state = replace(state, complement=story.last.theme.adjectives[0])
    denied = scenes.opposite_adjective(state)
    if denied is None or story.chance(0.4):
        return [story.tell(state, form=Form())]
    first = story.tell(scenes.negate(denied), form=draw_form(story.rng, 0))
    return [first, story.tell(state, theme, form=Form())]


def _next_event(story: _Story) -> list[Sentence]:
    """A new event, with the hero or the other person as its agent."""
    pair = story.hero, story.other
    agent, theme = pair if story.chance(0.6) else pair[::-1]
    if story.chance(0.35):
        event = _fitting(agent, theme, story.rng)
    else:
        event = scenes.event(story.rng, agent=agent, key=f"next {story.rng.random()} ")
    assert event is not None
    if story.chance(0.15):
        event = scenes.negate(event)
    event = story.trim(event)
    story.last = event
    return [story.tell(event)]


_MOVES: tuple[Narrator, ...] = (
    *(_follow, _follow, _mood, _again, _again, _again, _summary, _summary, _asked, _asked, _asked),
    *(_yes_or_no, _yes_or_no, _yes_or_no, _claimed, _claimed, _claimed, _denied, _denied),
    *(_nobody, _meaning, _meaning, _both, _because, _detail, _detail),
    *(_next_event, _next_event, _next_event),
)


def _begun(rng: random.Random, hero: Thing, other: Thing) -> _Story:
    """A story whose last event is its first."""
    start = scenes.event(rng, agent=hero, key="start ")
    story = _Story(rng, hero, other, start)
    story.last = story.trim(start, 0.6)
    return story


def _narrative(rng: random.Random) -> list[Sentence]:
    hero = scenes.person(rng, "hero", name=0.8)
    other = scenes.person(rng, "other", [hero])
    if hero.gender == other.gender and rng.random() < 0.6:
        other = scenes.person(rng, "other", [hero])
    story = _begun(rng, hero, other)
    out = _opening(story) if rng.random() < 0.4 else []
    out.append(story.tell(story.last, *([hero] if out else [])))
    length = rng.randint(4, 10)
    while len(out) < length:
        out += rng.choice(_MOVES)(story)
    return out


_TOLD: tuple[Narrator, ...] = (
    *(_follow, _follow, _mood, _again, _again, _summary, _asked, _both, _detail),
    *(_next_event, _next_event, _next_event),
)
"""Moves that say nothing false, so that a name stands for the same thing throughout a text; those
that occur once name new things in the same way each time."""


def _tale(rng: random.Random) -> list[Sentence]:
    """A short narrative, of moves that are drawn without replacement.

    The other person may become the hero; pronouns of different genders tell the two apart.
    """
    hero = scenes.person(rng, "hero", name=0.8)
    other = scenes.person(rng, "other", [hero])
    story = _begun(rng, hero, other)
    out = _opening(story)
    out.append(story.tell(story.last, *([hero] if out else [])))
    moves = rng.sample(_TOLD, len(_TOLD))
    length = rng.randint(4, 6)
    while len(out) < length:
        met = any(other.key in sentence.referents for sentence in out)
        if met and hero.gender != other.gender and story.chance(0.4):
            story.hero, story.other = story.other, story.hero
        out += moves.pop()(story)
    return list({sentence.text: sentence for sentence in out}.values())


_NEVER_THE_SAME = frozenset({"", "job", "someone"})
"""Names of things that nothing else in a text refers to."""
_NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})


def _is_clear(text: list[Sentence]) -> bool:
    """Whether every noun of a text stands for one thing."""
    named = {
        (token.text.lower(), referent)
        for sentence in text
        for token, referent in zip(sentence.tokens, sentence.referents, strict=True)
        if token.tag in _NOUN_TAGS and referent not in _NEVER_THE_SAME
    }
    return len({noun for noun, _ in named}) == len(named)


def stories(n: int, seed: int) -> Iterator[list[Sentence]]:
    """``n`` different texts in which names, nouns and pronouns of all sentences can be resolved.

    Tokens with the same entry in `Sentence.referents` refer to the same person or thing, also in
    different sentences. No noun stands for two things; pronouns may be ambiguous.
    """
    rng = random.Random(f"stories|{seed}")
    told: set[str] = set()
    while len(told) < n:
        text = [
            replace(
                sentence,
                referents=tuple("" if r in _NEVER_THE_SAME else r for r in sentence.referents),
            )
            for sentence in _tale(rng)
        ]
        words = " ".join(sentence.text for sentence in text)
        if words not in told and _is_clear(text):
            told.add(words)
            yield text


def _review(rng: random.Random) -> list[Sentence]:
    """An opinion, its reasons, and what follows from them."""
    about = topic(rng)
    good = rng.random() < 0.5
    out = [finish(verdict(rng, good, about))]
    length = rng.randint(4, 7)
    while len(out) < length:
        move = rng.choice(("aspect", "again", "pronoun", "contrast", "meaning"))
        if move == "aspect":
            out.append(finish(opinion(rng, aspect(rng, about), good)))
        elif move == "again":
            out.append(finish(_lead(opinion(rng, about, good), rng.choice(("In short", "So", "")))))
        elif move == "pronoun":
            out.append(finish(opinion(rng, about, good, pronoun=True)))
        elif move == "contrast":
            part, past = aspect(rng, about), rng.random() < 0.5
            out.append(finish(opinion(rng, part, good, turned=True, past=past)))
            out.append(finish(opinion(rng, part, good, turned=False, past=past, pronoun=True)))
        else:
            out.append(finish(verdict(rng, good, about)))
    return out


def _forum(rng: random.Random) -> list[Sentence]:
    """A question and its paraphrase, with other questions about the same things."""
    out: list[Sentence] = []
    length = rng.randint(4, 8)
    while len(out) < length:
        asking = questions.draw(rng)
        out += [questions.ask(rng, asking) for _ in range(rng.randint(2, 3))]
        if rng.random() < 0.4:
            out.append(questions.ask(rng, questions.changed(rng, asking)))
    return out


def documents(n: int, seed: int, use: str = "pre-training") -> Iterator[list[Sentence]]:
    """``n`` annotated texts of 4 to 10 sentences, determined by the seed and by their use."""
    rng = random.Random(f"{use}|{seed}")
    kinds = (_narrative, _narrative, _narrative, _narrative, _review, _forum)
    for _ in range(n):
        document: list[Sentence] = []
        while len(document) < 4:
            # Sentences with the same words are kept once.
            said = {sentence.text: sentence for sentence in rng.choice(kinds)(rng)}
            document = list(said.values())[:10]
        yield document


def pretraining_documents(n: int, seed: int) -> Iterator[list[str]]:
    """``n`` texts as lists of sentences, for masked-language-model and next-sentence training."""
    for document in documents(n, seed):
        yield [sentence.text for sentence in document]
