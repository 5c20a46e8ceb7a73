"""The seven tasks of the generated corpus, with the label schemes of GLUE.

Every pair task is built from two meanings that differ by one change, so that no word reveals the
label: a pair that keeps the meaning uses one of the two twice, a pair that changes it uses both, in
either order. Details are omitted and added equally often in every class.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from darksecrets.core.run.errors import InputError
from tools.corpus import questions, scenes
from tools.corpus.grammar import (
    Event,
    Form,
    Node,
    Realiser,
    Sentence,
    Thing,
    coordinate,
    draw_form,
    finish,
    punctuation,
    question,
    say,
)
from tools.corpus.opinions import verdict


@dataclass(frozen=True)
class Example:
    """A labelled sentence or pair."""

    sentence1: Sentence
    sentence2: Sentence | None
    label: int | float


T = TypeVar("T")
Pair = tuple[Event, Event]
Change = Callable[[Event, random.Random], Event | None]

# Words of a pair, punctuation included: about 48 word pieces.
_LONGEST = 36

# ------------------------------------------------------------------------------------ two meanings


def _fixed(change: Callable[[Event], Event | None]) -> Change:
    """Give a deterministic change the signature of a random one."""
    return lambda what, _: change(what)


# Each change, and the slot that must be filled for it.
_CHANGES: dict[str, tuple[Change, str]] = {
    "negation": (_fixed(scenes.negate), ""),
    "swap": (_fixed(scenes.swap), ""),
    "antonym": (_fixed(scenes.opposite_verb), ""),
    "verb": (scenes.other_verb, ""),
    "agent": (scenes.other_agent, ""),
    "theme": (scenes.other_theme, "noun"),
    "number": (scenes.other_number, ""),
    "adjective": (_fixed(scenes.opposite_adjective), "adjective"),
    "manner": (_fixed(scenes.opposite_manner), "manner"),
    "reason": (_fixed(scenes.opposite_reason), "reason"),
    "place": (scenes.other_place, "place"),
    "time": (scenes.other_time, "time"),
}


def _draw_event(rng: random.Random, change: str) -> Event:
    """An event of a kind to which a change is likely to apply."""
    if change in ("swap", "negation") and rng.random() < 0.9:
        pool = [v for v in scenes.verbs_with("", 1) if "p" in v.flags and "person" in v.objects]
        one = scenes.person(rng, "agent")
        other = scenes.person(rng, "theme", [one], name=0.8 if one.noun.proper else 0.2)
        return scenes.event(rng, rng.choice(pool), agent=one, theme=other)
    found = scenes.event(rng)
    if change == "number" and found.theme is not None and not found.theme.noun.proper:
        count = rng.randint(2, 9)
        return replace(found, theme=replace(found.theme, number=count))
    return found


def _two(rng: random.Random, change: str) -> Pair:
    """Two fully furnished events that differ by one change."""
    apply, _ = _CHANGES[change]
    while True:
        one = _draw_event(rng, change)
        other = apply(one, rng)
        if other is not None:
            return _either_order(rng, one, other)


def _choose(rng: random.Random, pair: tuple[T, T], same: bool) -> tuple[T, T]:
    """The same meaning twice, or both; a single sentence does not reveal which."""
    if not same:
        return pair
    one = rng.choice(pair)
    return one, one


def _keep(rng: random.Random, what: Event, needed: str, share: float = 0.5) -> set[str]:
    """Slots that a pair shows: at least one, if the event has any."""
    filled = [slot for slot in scenes.SLOTS if scenes.has(what, slot)]
    kept = {slot for slot in filled if slot == needed or rng.random() < share}
    if not kept and filled:
        kept = {rng.choice(filled)}
    return kept


def _only(what: Event, kept: set[str]) -> Event:
    for slot in scenes.SLOTS:
        if slot not in kept:
            what = scenes.without(what, slot)
    return what


def _differently(one: Sentence, other: Callable[[], Sentence]) -> tuple[Sentence, Sentence]:
    """A sentence and another, in different words if a few attempts find them."""
    for _ in range(8):
        second = other()
        if second.text != one.text:
            break
    return one, second


def _say_twice(rng: random.Random, first: Event, second: Event) -> tuple[Sentence, Sentence]:
    """Two sentences, in different words if the meaning allows it."""
    return _differently(say(first, rng), lambda: say(second, rng, draw_form(rng, 0.45)))


def _either_order(rng: random.Random, one: T, other: T) -> tuple[T, T]:
    return (one, other) if rng.random() < 0.5 else (other, one)


# -------------------------------------------------------------------------------------------- MRPC

_MRPC = (
    *("negation", "negation", "negation", "negation", "detail", "detail", "detail", "detail"),
    *("swap", "antonym", "verb", "agent", "theme", "place", "time", "adjective", "number"),
)


def _mrpc(rng: random.Random, label: float) -> Example:
    """Paraphrases by voice, order and synonyms; negatives change or omit one thing."""
    change = rng.choice(_MRPC)
    pair = _with_and_without(rng) if change == "detail" else _shown(rng, change)
    first, second = _choose(rng, pair, label == 1)
    if rng.random() < 0.25:
        people = [t for e in pair for t in (e.agent, e.theme, e.recipient) if t is not None]
        speaker = scenes.common(rng, "person", "speaker", people)
        return Example(_report(rng, speaker, first), _report(rng, speaker, second), label)
    return Example(*_say_twice(rng, first, second), label)


def _shown(rng: random.Random, change: str) -> Pair:
    """Two events that differ by one change, with the same details."""
    one, other = _two(rng, change)
    kept = _keep(rng, one, _CHANGES[change][1])
    return _only(one, kept), _only(other, kept)


def _with_and_without(rng: random.Random) -> Pair:
    """An event with and without its place, time or reason, in either order."""
    while True:
        base = scenes.event(rng)
        slots = [slot for slot in ("place", "time", "reason") if scenes.has(base, slot)]
        if slots:
            break
    slot = rng.choice(slots)
    one = _only(base, _keep(rng, base, slot))
    return _either_order(rng, one, scenes.without(one, slot))


def _report(rng: random.Random, speaker: Thing, what: Event) -> Sentence:
    """``The mayor said that ...``, ``According to the mayor, ...``."""
    realiser = Realiser(rng, 0.4)
    if rng.random() < 0.4:
        clause = realiser.clause(what, replace(draw_form(rng), fronted=False))
        to = Node("to", "IN", "prep").after(realiser.noun_phrase(speaker, "pobj"))
        according = Node("according", "VBG", "prep").after(to)
        clause.left[:0] = [according, punctuation(",")]
        return finish(clause)
    subject = realiser.noun_phrase(speaker, "nsubj", 0)
    clause = realiser.clause(what, draw_form(rng), "ccomp", mark="that")
    word = rng.choice(("said", "said", "reported", "stated", "announced"))
    root = Node(word, "VBD", "root").before(subject).after(clause)
    root.links = [(subject, "Speaker"), (clause, "Message")]
    return finish(root)


# ------------------------------------------------------------------------------------------- STS-B

# Points that each difference costs, out of 5. Omitting a detail costs half of changing it.
_COST = {
    "manner": 0.8,
    "reason": 1.0,
    "adjective": 1.2,
    "time": 1.0,
    "place": 1.2,
    "number": 1.0,
    "theme": 1.6,
    "agent": 1.6,
    "antonym": 1.6,
    "verb": 1.8,
    "swap": 1.4,
    "negation": 2.0,
}
_NO_RELATION = {"agent": 1.0, "theme": 1.2, "": 0.0}


def _stsb(rng: random.Random, label: float) -> Example:
    """Similarity from 0 to 5: 5 less the cost of each difference.

    ``label`` is the intended band (0 to 5); the example's label is the score itself. In bands 0 and
    1, two events share nothing, or only the subject (1.0) or the object (1.2).
    """
    if label < 2:
        return _unrelated(rng, label)
    while True:
        pair, score = _graded(rng)
        if label - 0.5 <= score < label + 0.5:
            return Example(*_say_twice(rng, *pair), round(score, 1))


def _graded(rng: random.Random) -> tuple[Pair, float]:
    base = _draw_event(rng, rng.choice(("swap", "number", "", "", "")))
    kept = _keep(rng, base, "", 0.55)
    one = other = _only(base, kept)
    score = 5.0
    of_verb = ("antonym", "verb", "swap", "negation")
    names = [*(name for name in _COST if name not in of_verb), rng.choice(of_verb)]
    for name in rng.sample(names, rng.choice((0, 1, 1, 2, 2, 3))):
        leaves_out = name in scenes.SLOTS and rng.random() < 0.5
        if leaves_out and scenes.has(one, name) and scenes.has(other, name):
            one = scenes.without(one, name)
            score -= _COST[name] / 2
            continue
        changed = _CHANGES[name][0](other, rng)
        if changed is not None and not leaves_out:
            other = changed
            score -= _COST[name]
    return _either_order(rng, one, other), score


def _unrelated(rng: random.Random, label: float) -> Example:
    change = rng.choice(("swap", "number", "", "", ""))
    one, other = _draw_event(rng, change), _draw_event(rng, change)
    shared = ""
    if label == 1:
        shared = "agent"
        if one.theme is not None and rng.random() < 0.5:
            found = scenes.other_verb(one, rng)
            shared = "theme" if found is not None else "agent"
            other = replace(scenes.other_agent(found or one, rng), negative=one.negative)
            other = scenes.furnish(rng, replace(other, theme=one.theme))
        if shared == "agent":
            pool = [v for v in scenes.verbs_with("", 0) if v.words != one.verb.words]
            kind = "person" if one.agent.noun.proper else one.agent.noun.kind
            fitting = [v for v in pool if kind in v.subjects]
            other = scenes.event(rng, rng.choice(fitting), agent=one.agent, key="other ")
    pair = [_only(each, _keep(rng, each, "", 0.45)) for each in (one, other)]
    first, second = (scenes.negate(each) if rng.random() < 0.1 else each for each in pair)
    return Example(*_say_twice(rng, first, second), _NO_RELATION[shared])


# ------------------------------------------------------------------------------------------- SST-2


def _sst2(rng: random.Random, label: float) -> Example:
    """Opinions; in a third of the clauses, negation reverses the polarity of their words."""
    return Example(finish(verdict(rng, label == 1, turned=0.33)), None, label)


# --------------------------------------------------------------------------------------------- QQP


def _qqp(rng: random.Random, label: float) -> Example:
    """A paraphrase of the question, or one with a different word, roles or aim."""
    if rng.random() < 0.4:
        return _event_questions(rng, label)
    one = questions.draw(rng)
    other = _other_aim(rng, one) if rng.random() < 0.5 else questions.changed(rng, one)
    first, second = _choose(rng, _either_order(rng, one, other), label == 1)
    asked = _differently(questions.ask(rng, first), lambda: questions.ask(rng, second))
    return Example(*asked, label)


def _other_aim(rng: random.Random, asking: questions.Asking) -> questions.Asking:
    """A question of another kind about the same thing: where to get it, what it costs, why."""
    while True:
        other = questions.draw(rng)
        if other.kind not in (asking.kind, "how", "better"):
            city = asking.city or other.city
            return replace(other, noun=asking.noun, quality=asking.quality, city=city)


# What a question asks for, and the changes that leave this slot unchanged.
_ASKABLE = {
    "agent": ("antonym", "verb", "theme", "place", "time"),
    "theme": ("antonym", "verb", "agent", "place", "time"),
    "place": ("antonym", "verb", "theme", "agent", "swap", "time"),
    "time": ("antonym", "verb", "theme", "agent", "swap", "place"),
}


def _questioned(rng: random.Random) -> tuple[str, str, Pair]:
    """What is asked, the change, and two events that the question fits."""
    asked = rng.choice(("agent", "theme", *("place", "time") * 3))
    while True:
        change = rng.choice(_ASKABLE[asked])
        pair = _two(rng, change)
        one = pair[0]
        if one.time is None or one.place is None:
            continue
        if asked != "theme" or (one.theme is not None and one.recipient is None):
            return asked, change, pair


def _event_questions(rng: random.Random, label: float) -> Example:
    asked, change, pair = _questioned(rng)
    if rng.random() < 0.5:
        return _two_aims(rng, label, asked, pair[0])
    kept = _keep(rng, pair[0], _CHANGES[change][1], 0.4)
    kept -= {asked, "reason"} | ({"adjective"} if asked == "theme" else set())
    first, second = (_only(e, kept) for e in _choose(rng, pair, label == 1))
    return _asked_twice(rng, label, (first, asked), (second, asked))


def _two_aims(rng: random.Random, label: float, asked: str, what: Event) -> Example:
    """``Where did Anna sleep?`` and ``When did Anna sleep?``."""
    possible = {"agent", "place", "time"}
    if what.theme is not None and what.recipient is None:
        possible.add("theme")
    other = rng.choice(sorted(possible - {asked}))
    aims = _choose(rng, _either_order(rng, asked, other), label == 1)
    shown = _only(what, _keep(rng, what, "", 0.4) - {asked, other, "reason", "adjective"})
    return _asked_twice(rng, label, (shown, aims[0]), (shown, aims[1]))


def _asked_twice(
    rng: random.Random, label: float, first: tuple[Event, str], second: tuple[Event, str]
) -> Example:
    asked = _differently(question(*first, rng), lambda: question(*second, rng, draw_form(rng, 0.5)))
    return Example(*asked, label)


# -------------------------------------------------------------------------------------------- QNLI

# Share of negative examples whose sentence omits what is asked for.
_MISSING = 0.75
_OTHER_SLOT = 0.2


def _qnli(rng: random.Random, label: float) -> Example:
    """Whether a sentence answers a question.

    It does not if it is about another event, or omits the place or time asked for.
    """
    asked, change, pair = _questioned(rng)
    entailed = label == 0
    about_slot = asked in ("place", "time")
    missing = not entailed and about_slot and rng.random() < _MISSING
    needed = _CHANGES[change][1]
    subject, answer = _choose(rng, pair, entailed or missing)
    loose = [s for s in scenes.SLOTS if s not in (asked, needed)]
    other = {"place": "time", "time": "place"}.get(asked, "")
    # A sentence that omits the place tells the time more often, so no word reveals the label.
    share = _OTHER_SLOT if entailed or not about_slot else _OTHER_SLOT + _MISSING
    said = {s for s in loose if rng.random() < (share if s == other else 0.4)}
    said |= {needed} if needed else set()
    said |= {asked} if about_slot and not missing else set()
    told = {s for s in loose if rng.random() < 0.25} | ({needed} if needed else set())
    told |= {asked} if about_slot else set()
    told -= {"reason"} | ({"adjective"} if asked == "theme" else set())
    asking = question(_only(subject, told), asked, rng)
    return Example(asking, say(_only(answer, said), rng), label)


# ------------------------------------------------------------------------------------ RTE and MNLI

# How often a detail is in the premise and in the hypothesis, whatever the label.
_IN_PREMISE, _IN_HYPOTHESIS = 0.6, 0.5


def _nested(rng: random.Random, added: bool, chance: float) -> tuple[bool, bool]:
    """Whether premise and hypothesis show a detail that the hypothesis may not add.

    Args:
        rng: Random number generator.
        added: Whether this is the detail that the hypothesis adds.
        chance: How often examples of this label add it; the shares of the others compensate.
    """
    if added:
        return False, True
    drawn = rng.random() * (1 - chance)
    return drawn < _IN_PREMISE, drawn < _IN_HYPOTHESIS - chance


def _general(what: Event) -> Thing | None:
    return scenes.generalise(what.theme) if what.theme is not None else None


def _less(what: Event, slot: str) -> Event:
    """An event without a detail, or with a more general noun."""
    return replace(what, theme=_general(what)) if slot == "noun" else scenes.without(what, slot)


def _detail_slots(pair: Pair, needed: str) -> list[str]:
    slots = [s for s in scenes.SLOTS if s != needed and scenes.has(pair[0], s)]
    special = needed != "noun" and all(_general(what) is not None for what in pair)
    return slots + ["noun"] * special


def _details(rng: random.Random, pair: Pair, slots: Sequence[str], share: float, add: bool) -> Pair:
    """Omit details from the premise, and more of them from the hypothesis.

    Args:
        rng: Random number generator.
        pair: Premise and hypothesis, in full.
        slots: The details.
        share: How often examples of this label add one to the hypothesis.
        add: Whether this example does.
    """
    first, second = pair
    added = rng.choice(slots) if add else ""
    for slot in slots:
        in_first, in_second = _nested(rng, slot == added, share / len(slots))
        first = first if in_first else _less(first, slot)
        second = second if in_second else _less(second, slot)
    return first, second


def _same_details(rng: random.Random, pair: Pair) -> Pair:
    kept = _keep(rng, pair[0], "", 0.55)
    return _only(pair[0], kept), _only(pair[1], kept)


def _two_detailed(rng: random.Random, change: str) -> tuple[Pair, list[str]]:
    """Two events that differ by one change, and their two or more other details."""
    while True:
        pair = _two(rng, change)
        slots = _detail_slots(pair, _CHANGES[change][1])
        if len(slots) >= 2:
            return pair, slots


def _another_event(rng: random.Random, what: Event) -> Event | None:
    """A neutral event: roles changed, or something else done to the object."""
    swapped = scenes.swap(what)
    if swapped is not None:
        return swapped
    for _ in range(4):
        found = scenes.other_verb(what, rng)
        if found is not None and found.verb.words[0] != what.verb.antonym:
            return found
    return None


_RTE = (
    *("negation", "negation", "negation", "negation", "negation", "swap", "antonym", "verb"),
    *("agent", "theme", "place", "time", "adjective", "reason", "relative", "conjunction"),
)
_RTE_ADDS = 0.5


def _rte(rng: random.Random, label: float) -> Example | None:
    """Whether the hypothesis follows.

    It does if it is the passive, is more general, has less detail, or is part of a conjunction or
    relative clause; it does not if something is changed or added.
    """
    entailed = label == 0
    change = rng.choice(_RTE)
    if change in _COMBINED:
        return _COMBINED[change](rng, label, "entailment" if entailed else "neutral")
    if change == "negation":
        # A negated event keeps its details: omitting one would make the claim stronger.
        pair = _same_details(rng, _choose(rng, _two(rng, change), entailed))
        return Example(*_say_twice(rng, *pair), label)
    pair, slots = _two_detailed(rng, change)
    add = not entailed and rng.random() < _RTE_ADDS
    pair = _choose(rng, pair, entailed or add)
    pair = _details(rng, pair, slots, 0.0 if entailed else _RTE_ADDS, add)
    return Example(*_say_twice(rng, *pair), label)


_MNLI = (
    *("negation", "negation", "negation", "negation", "negation", "antonym", "antonym"),
    *("adjective", "place", "time", "number", "relative", "conjunction"),
)
_MNLI_ADDS = 0.75
_RELATIONS = ("entailment", "neutral", "contradiction")


def _mnli(rng: random.Random, label: float) -> Example | None:
    """Entailment, neutral or contradiction.

    Neutral: an added detail, exchanged roles or another action. Contradiction: negation, an
    antonym, or another place, time or number.
    """
    relation = _RELATIONS[int(label)]
    change = rng.choice(_MNLI)
    if change in _COMBINED:
        return _COMBINED[change](rng, label, relation)
    if change == "negation":
        pair = _two(rng, change)
        if scenes.swap(pair[0]) is None:
            return None
        first, second = _same_details(rng, _choose(rng, pair, relation == "entailment"))
        if relation == "neutral":
            second = scenes.swap(second) or second
        return Example(*_say_twice(rng, first, second), label)
    pair, slots = _two_detailed(rng, change)
    pair = (_definite(pair[0]), _definite(pair[1]))
    if _another_event(rng, pair[0]) is None:
        return None
    first, second = _choose(rng, pair, relation != "contradiction")
    neutral = relation == "neutral"
    add = neutral and rng.random() < _MNLI_ADDS
    if neutral and not add:
        second = _another_event(rng, second) or second
    pair = _details(rng, (first, second), slots, _MNLI_ADDS if neutral else 0.0, add)
    return Example(*_say_twice(rng, *pair), label)


def _definite(what: Event) -> Event:
    if what.theme is None or what.theme.noun.proper:
        return what
    return replace(what, theme=replace(what.theme, definite=True))


def _conjunction(rng: random.Random, label: float, relation: str) -> Example | None:
    """``Anna bought the car, and Tom sold the boat``: either part follows, a mixture does not."""
    one = scenes.person(rng, "one")
    other = scenes.person(rng, "two", [one])
    turned = _opposed(rng, one, "a ")
    pair = (turned, _opposed(rng, other, "b "))
    if pair[0][0].verb.words == pair[1][0].verb.words:
        return None
    sides = [rng.choice(side) for side in pair]
    realiser = Realiser(rng, 0.4)
    premise = finish(coordinate(realiser.clause(sides[0], Form()), realiser, sides[1], Form()))
    which = rng.randrange(2)
    hypothesis = sides[which]
    if relation == "contradiction":
        hypothesis = pair[which][1 - pair[which].index(hypothesis)]
    elif relation == "neutral":
        hypothesis = replace(hypothesis, agent=(other, one)[which])
    return Example(premise, say(hypothesis, rng), label)


def _opposed(rng: random.Random, agent: Thing, key: str) -> Pair:
    """Two opposite events without details."""
    while True:
        base = scenes.event(rng, agent=agent, key=key, tense="past", full=False)
        found = scenes.opposite_verb(base)
        if found is not None and base.recipient is None and "person" in base.verb.subjects:
            kept = _definite(base)
            return kept, replace(found, theme=kept.theme)


_RELATIVE_GROUPS = ("mood", "calm", "tired", "wealth", "health", "hope", "courage", "manners")


def _relative(rng: random.Random, label: float, relation: str) -> Example | None:
    """``The doctor who helped the nurse was tired``: who was tired, who helped whom."""
    pool = [v for v in scenes.verbs_with("p", 1) if v.objects[0] == "person"]
    doer = scenes.common(rng, "person", "doer")
    other = scenes.common(rng, "person", "other", [doer])
    inner = Event(rng.choice(pool), doer, other)
    if rng.random() < 0.5:
        inner = replace(inner, agent=other, theme=doer)
    slot = "agent" if inner.agent is doer else "theme"
    outer = scenes.state(rng, doer, groups=_RELATIVE_GROUPS)
    assert outer is not None
    turned = scenes.opposite_adjective(outer)
    assert turned is not None
    about = replace(doer, clause=(inner, slot))
    premise = finish(Realiser(rng, 0.4).clause(replace(outer, agent=about), Form()))
    asks_state = relation == "contradiction" or rng.random() < 0.6
    if relation == "contradiction":
        return Example(premise, say(turned, rng, Form()), label)
    if asks_state:
        subject = doer if relation == "entailment" else other
        return Example(premise, say(replace(outer, agent=subject), rng, Form()), label)
    event = inner if relation == "entailment" else scenes.swap(inner) or inner
    return Example(premise, say(event, rng), label)


_COMBINED = {"relative": _relative, "conjunction": _conjunction}

# ------------------------------------------------------------------------------------------- sizes

_MAKERS: dict[str, Callable[[random.Random, float], Example | None]] = {
    "MRPC": _mrpc,
    "STS-B": _stsb,
    "SST-2": _sst2,
    "QQP": _qqp,
    "RTE": _rte,
    "QNLI": _qnli,
    "MNLI": _mnli,
}
NAMES = tuple(_MAKERS)
"""Tasks that the corpus has: the seven of the paper."""
# Label of pairs that keep the meaning, label of pairs that need not, and the share of the latter
# that combine sentences of two different examples; recognising those is the easier half of a task.
_KEEPS = {"MRPC": 1, "QQP": 1, "RTE": 0, "QNLI": 0, "MNLI": 0}
_LOSES = {"MRPC": 0, "QQP": 0, "RTE": 1, "QNLI": 1, "MNLI": 1}
_CROSSED = 0.5
# Numbers of labels (for STS-B, bands of the score); the other tasks have two classes.
_LABELS = {"STS-B": 6, "MNLI": 3}
# Shares of the positive class as in GLUE; the other tasks are balanced.
_POSITIVE = {"MRPC": 0.67, "QQP": 0.37}


def _make(name: str, rng: random.Random, label: float) -> Example | None:
    maker = _MAKERS[name]
    if label != _LOSES.get(name) or rng.random() >= _CROSSED:
        return maker(rng, label)
    one, other = maker(rng, _KEEPS[name]), maker(rng, _KEEPS[name])
    return Example(one.sentence1, other.sentence2, label) if one and other else None


def _planned(name: str, size: int, rng: random.Random) -> list[int]:
    """Labels (for STS-B, bands of the score) of a split, shuffled."""
    count = _LABELS.get(name, 2)
    if name in _POSITIVE:
        positive = round(size * _POSITIVE[name])
        labels = [1] * positive + [0] * (size - positive)
    else:
        labels = [i % count for i in range(size)]
    rng.shuffle(labels)
    return labels


def _text(example: Example) -> tuple[str, str]:
    other = example.sentence2
    return example.sentence1.text, other.text if other else ""


def _fits(example: Example) -> bool:
    pair = (example.sentence1, example.sentence2)
    words = sum(len(sentence.tokens) for sentence in pair if sentence)
    one, other = _text(example)
    return words <= _LONGEST and one != other


def generate(name: str, sizes: Mapping[str, int], seed: int) -> dict[str, list[Example]]:
    """Generate the splits of a task.

    Args:
        name: One of the seven tasks.
        sizes: Examples per split, for instance ``{"train": 2000, "validation": 500}``.
        seed: The same seed gives the same examples everywhere.

    Returns:
        Examples per split; no pair of texts occurs twice, in whichever order.

    Raises:
        InputError: The task is unknown.
    """
    if name not in _MAKERS:
        raise InputError(f"Unknown task {name!r}; the generated corpus has {', '.join(_MAKERS)}.")
    seen: set[frozenset[str]] = set()
    splits: dict[str, list[Example]] = {}
    for split, size in sizes.items():
        rng = random.Random(f"{name}|{split}|{seed}")
        splits[split] = []
        for label in _planned(name, size, rng):
            while True:
                example = _make(name, rng, label)
                if example is None or not _fits(example) or frozenset(_text(example)) in seen:
                    continue
                seen.add(frozenset(_text(example)))
                splits[split].append(example)
                break
    return splits


def rows(examples: Sequence[Example]) -> list[dict[str, Any]]:
    """Examples as rows of the data contract: idx, sentence1, sentence2 (of pairs) and label."""
    table = []
    for idx, example in enumerate(examples):
        second = {"sentence2": example.sentence2.text} if example.sentence2 else {}
        texts = {"sentence1": example.sentence1.text, **second}
        table.append({"idx": idx, **texts, "label": example.label})
    return table
