"""Draw plausible meanings (who does what to what, where, when and how) and change them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import TypeVar

from tools.corpus.grammar import BE, Event, Place, Thing, Time
from tools.corpus.lexicon import (
    Modifier,
    Noun,
    Verb,
    adjectives_of,
    adverbs,
    names,
    noun,
    nouns_of,
    read,
    verb,
    verbs,
)

T = TypeVar("T")


@cache
def _weights(size: int) -> tuple[float, ...]:
    # Word lists begin with common words; shares fall off slowly (a flattened Zipf's law).
    return tuple(accumulate((rank + 4) ** -0.6 for rank in range(size)))


def pick(rng: random.Random, items: Sequence[T]) -> T:
    """Draw one item; earlier ones are more likely."""
    return rng.choices(items, cum_weights=_weights(len(items)))[0]


# ------------------------------------------------------------------------------------ participants


def named(
    rng: random.Random, key: str, avoid: Sequence[Thing] = (), surname: float = 0.15
) -> Thing:
    """A person with a name that nobody in ``avoid`` has."""
    taken = {thing.noun.words[0] for thing in avoid}
    while True:
        gender = rng.choice("fm")
        name = pick(rng, names("female" if gender == "f" else "male"))
        if name not in taken:
            break
    family = rng.choice(names("surname")) if rng.random() < surname else ""
    return Thing(key, Noun((name,), "name", "person", gender), gender=gender, surname=family)


def _related(one: Noun, other: Noun) -> bool:
    """Whether one noun could name what the other names."""
    if one.words[0] in (other.words[0], other.hypernym):
        return True
    return one.hypernym == other.words[0] or bool(set(one.words) & set(other.words))


def common(
    rng: random.Random, kind: str, key: str, avoid: Sequence[Thing] = (), definite: bool = True
) -> Thing:
    """A participant with a common noun of a class, unlike those in ``avoid``."""
    while True:
        entry = pick(rng, nouns_of(kind))
        if not any(_related(entry, thing.noun) for thing in avoid):
            break
    gender = (entry.gender or rng.choice("fm")) if kind == "person" else "n"
    return Thing(key, entry, definite=definite, gender=gender)


def person(rng: random.Random, key: str, avoid: Sequence[Thing] = (), name: float = 0.6) -> Thing:
    """A person, by name or by occupation."""
    if rng.random() < name:
        return named(rng, key, avoid)
    return common(rng, "person", key, avoid)


def participant(
    rng: random.Random, kind: str, key: str, avoid: Sequence[Thing] = (), many: float = 0.15
) -> Thing:
    """A participant of a class; people may be named, things may be several or indefinite."""
    if kind == "person":
        someone = person(rng, key, avoid)
        if someone.noun.proper and rng.random() < many / 2:
            partner = named(rng, f"{key} partner", [someone, *avoid], surname=0.0)
            return replace(someone, other=partner, surname="")
        several = not someone.noun.proper and rng.random() < many
        return replace(someone, number=0) if several else someone
    thing = common(rng, kind, key, avoid, definite=rng.random() < 0.65)
    if rng.random() < many:
        return replace(thing, number=rng.randint(2, 9))
    return thing


def adjective(rng: random.Random, thing: Thing) -> Modifier | None:
    """An adjective that goes with a participant."""
    fitting = adjectives_of(thing.noun.kind.rstrip("*"))
    return rng.choice(fitting) if fitting else None


# ----------------------------------------------------------------------------------- circumstances

# Places that take another preposition than "in".
_AT = (
    "station airport theatre cinema stadium bank market zoo restaurant hotel museum school "
    "university hospital library supermarket harbour office palace"
)
_ON = "beach mountain hill island farm playground"
_NEAR = "river lake tower lighthouse castle"
_PREPOSITIONS = {
    **dict.fromkeys(_AT.split(), "at"),
    **dict.fromkeys(_ON.split(), "on"),
    **dict.fromkeys(_NEAR.split(), "near"),
}
_GROUPS = {
    "trade": "shop market supermarket bookshop town",
    "work": "garage factory studio laboratory",
    "table": "kitchen restaurant cafe hotel garden cottage",
    "quiet": "library classroom bedroom office cafe university studio",
    "farm": "farm barn field zoo park forest",
    "road": "street square village town park",
    "rest": "bedroom hotel garden cottage hospital",
    "water": "river lake harbour",
}


@cache
def _places(group: str) -> tuple[Noun, ...]:
    kinds = ("building", "outdoor", "room") if group in _GROUPS else ("room", "building", "outdoor")
    pool = tuple(entry for kind in kinds for entry in nouns_of(kind))
    wanted = _GROUPS.get(group, "").split()
    return tuple(entry for entry in pool if entry.words[0] in wanted) if wanted else pool


def city(rng: random.Random) -> Thing:
    """A city."""
    name = pick(rng, names("city"))
    return Thing(f"city {name}", Noun((name,), "city", "place"))


def place(rng: random.Random, group: str = "any") -> Place:
    """Where something of a group of activities happens."""
    if group not in ("table", "quiet", "rest", "farm", "water") and rng.random() < 0.3:
        return Place("in", city(rng))
    entry = rng.choice(_places(group))
    preposition = _PREPOSITIONS.get(entry.words[0], "in")
    if group == "water":
        preposition = "in"
    elif rng.random() < 0.2 and entry.kind != "room":
        preposition = rng.choice(["near", "behind", "outside"])
    if entry.kind == "outdoor" and preposition in ("behind", "outside"):
        preposition = "near"
    return Place(preposition, Thing(f"place {entry.words[0]}", entry))


@cache
def times() -> tuple[Time, ...]:
    """Times; two of the same kind are mutually exclusive."""
    return tuple(
        Time(row["template"].format(value), tense, row["kind"])
        for row in read("times.tsv")
        for value in row["values"].split()
        for tense in row["tenses"].split()
    )


@cache
def _times_of(tense: str, kind: str = "") -> tuple[Time, ...]:
    return tuple(t for t in times() if t.tense == tense and (not kind or t.kind == kind))


def time(rng: random.Random, tense: str) -> Time | None:
    """A time that goes with a tense."""
    kinds = {"progressive": "past", "perfect": ""}
    tense = kinds.get(tense, tense)
    if not (pool := _times_of(tense)):
        return None
    return rng.choice(_times_of(tense, rng.choice(sorted({t.kind for t in pool}))))


# ------------------------------------------------------------------------------------------ events

TENSES = ("past", "past", "past", "past", "future", "present", "progressive", "perfect")


@cache
def verbs_with(flags: str, least_objects: int) -> tuple[Verb, ...]:
    """Verbs that have all given flags and at least this number of object classes, 0 or 1."""
    return tuple(
        v for v in verbs() if all(f in v.flags for f in flags) and len(v.objects) >= least_objects
    )


_MANNERS = {
    "person": "politely rudely secretly openly eagerly reluctantly calmly nervously deliberately",
    "thing": "quickly slowly carefully carelessly quietly secretly openly eagerly reluctantly "
    "skilfully clumsily deliberately accidentally",
    "alone": "quickly slowly quietly loudly happily sadly eagerly reluctantly calmly nervously",
    "animal": "quickly slowly carefully carelessly quietly loudly gently roughly bravely timidly",
}
# Verbs that imply a manner, or are not done on purpose.
_NO_MANNER = (
    *("find", "lose", "see", "meet", "overlook", "forget", "recognise", "own", "fail", "succeed"),
    *("frighten", "insult", "deceive", "ignore", "thank", "flatter", "wear", "whisper", "shout"),
    *("appear", "disappear", "sleep"),
)


def _manner_group(entry: Verb) -> str:
    if "s" in entry.flags or entry.words[0] in _NO_MANNER:
        return ""
    if not entry.objects:
        return "alone"
    return {"person": "person", "animal": "animal"}.get(entry.objects[0], "thing")


@cache
def _manners(group: str) -> tuple[Modifier, ...]:
    return tuple(a for a in adverbs() if a.words[0] in _MANNERS.get(group, "").split())


def manner(rng: random.Random, entry: Verb) -> Modifier | None:
    """A manner adverb that goes with a verb, where one does."""
    pool = _manners(_manner_group(entry))
    return rng.choice(pool) if pool else None


def event(
    rng: random.Random,
    entry: Verb | None = None,
    *,
    key: str = "",
    agent: Thing | None = None,
    theme: Thing | None = None,
    tense: str = "",
    full: bool = True,
) -> Event:
    """A random event.

    Args:
        rng: Random number generator.
        entry: Its verb; by default any.
        key: Prefix of the keys of new participants, different for each event of a text.
        agent: Its subject; by default a new one.
        theme: Its object; by default a new one.
        tense: Its tense; by default any that the verb takes.
        full: Whether to fill the optional slots: adjective, place, time and manner.
    """
    entry = entry or rng.choice(verbs())
    tense = tense or rng.choice(TENSES)
    if "s" in entry.flags and tense in ("progressive", "future"):
        tense = "past"
    people = [thing for thing in (agent, theme) if thing]
    if agent is None:
        kind = entry.subjects[0] if rng.random() < 0.8 else rng.choice(entry.subjects)
        agent = participant(rng, kind, key + "agent", people)
        people.append(agent)
        # Animals as participants are definite.
        agent = replace(agent, definite=True)
    if theme is None and entry.objects:
        kinds = [k for k in entry.objects if k != agent.noun.kind or k == "person"]
        theme = participant(rng, rng.choice(kinds or entry.objects), key + "theme", people)
        people.append(theme)
    recipient = None
    if "d" in entry.flags:
        recipient = person(rng, key + "recipient", people)
    result = Event(entry, agent, theme, recipient, tense=tense)
    return furnish(rng, result) if full else result


def furnish(rng: random.Random, base: Event) -> Event:
    """Fill the optional slots of an event, as far as they fit."""
    theme = base.theme
    if theme is not None and not theme.noun.proper and not theme.adjectives:
        found = adjective(rng, theme)
        if found:
            theme = replace(theme, adjectives=(found,))
    stative = "s" in base.verb.flags
    where = None if stative else place(rng, base.verb.places)
    if where is not None and theme is not None and theme.noun.kind in ("building", "outdoor"):
        where = None
    when = None if stative else time(rng, base.tense)
    if theme is not None and _can_own(base.agent, theme) and rng.random() < 0.25:
        theme = replace(theme, owner=base.agent, definite=True)
    how = manner(rng, base.verb)
    reason = None
    if base.agent.noun.animate and not stative and rng.random() < 0.3:
        now = base.tense in ("present", "future", "perfect")
        tense = "present" if now else "past"
        reason = state(rng, base.agent, groups=REASONS, tense=tense)
    return replace(base, theme=theme, place=where, time=when, manner=how, reason=reason)


# Dimensions of a person that are reasons for doing things.
REASONS = ("mood", "calm", "tired", "hope", "pride")
_OWNED = ("vehicle", "clothing", "tool", "document", "instrument", "device", "container", "item")


def _can_own(agent: Thing, theme: Thing) -> bool:
    return agent.noun.animate and theme.noun.kind in _OWNED and theme.number == 1


# Content of each optional slot, and how to empty it.
SLOTS = ("adjective", "place", "time", "manner", "reason")


def has(what: Event, slot: str) -> bool:
    """Whether an event says something in an optional slot."""
    if slot == "adjective":
        return any(thing and thing.adjectives for thing in (what.agent, what.theme))
    return getattr(what, slot) is not None


def without(what: Event, slot: str) -> Event:
    """An event with an optional slot emptied."""
    if slot != "adjective":
        return replace(what, **{slot: None})  # type: ignore[arg-type]
    # After roles are swapped, the subject has the adjective.
    theme = replace(what.theme, adjectives=()) if what.theme else None
    return replace(what, agent=replace(what.agent, adjectives=()), theme=theme)


def state(
    rng: random.Random, subject: Thing, *, groups: Sequence[str] = (), tense: str = "past"
) -> Event | None:
    """A state of a participant, ``Anna was tired``; with ``groups``, of these dimensions."""
    kind = "person" if subject.noun.proper else subject.noun.kind.rstrip("*")
    fitting = [a for a in adjectives_of(kind) if not groups or a.group in groups]
    if not fitting:
        return None
    return Event(BE, subject, complement=rng.choice(fitting), tense=tense)


# ----------------------------------------------------------------------------------------- changes


def negate(what: Event) -> Event:
    """Says the contrary."""
    return replace(what, negative=not what.negative)


def opposite_verb(what: Event) -> Event | None:
    """The antonym of the verb, where it takes the same participants."""
    if not what.verb.antonym:
        return None
    other = verb(what.verb.antonym)
    if bool(other.objects) != (what.theme is not None):
        return None
    fits = what.theme is None or _kind(what.theme) in other.objects
    return replace(what, verb=other) if fits and _kind(what.agent) in other.subjects else None


def _kind(thing: Thing) -> str:
    return "person" if thing.noun.kind == "name" else thing.noun.kind.rstrip("*")


def opposite_adjective(what: Event) -> Event | None:
    """The antonym of the object's adjective or of the predicate."""
    if isinstance(what.complement, Modifier):
        turned = opposite(what.complement)
        return replace(what, complement=turned) if turned else None
    if what.theme is None or not what.theme.adjectives:
        return None
    turned = opposite(what.theme.adjectives[0])
    return replace(what, theme=replace(what.theme, adjectives=(turned,))) if turned else None


def opposite_manner(what: Event) -> Event | None:
    """The antonym of the manner adverb."""
    turned = opposite(what.manner) if what.manner else None
    return replace(what, manner=turned) if turned else None


def opposite(modifier: Modifier) -> Modifier | None:
    """The other end of a modifier's dimension."""
    turned = replace(modifier, words=modifier.opposite, opposite=modifier.words)
    return turned if turned.words else None


def opposite_reason(what: Event) -> Event | None:
    """The same event with the opposite reason."""
    turned = opposite_adjective(what.reason) if what.reason else None
    return replace(what, reason=turned) if turned else None


def other_place(what: Event, rng: random.Random) -> Event | None:
    """Somewhere else: another city, or another kind of place."""
    if what.place is None:
        return None
    old = what.place.thing.noun
    while True:
        found = Place("in", city(rng)) if old.proper else place(rng, what.verb.places)
        if found.thing.noun.proper == old.proper and found.thing.noun.words != old.words:
            return replace(what, place=replace(found, preposition=_preposition(what, found)))


def _preposition(what: Event, found: Place) -> str:
    # Keep the preposition if both places take it, so that only the place differs.
    assert what.place is not None
    loose = ("near", "behind", "outside")
    if what.place.preposition in loose and found.thing.noun.kind == "building":
        return what.place.preposition
    return found.preposition


def other_time(what: Event, rng: random.Random) -> Event | None:
    """Another time of the same kind, so that both cannot be true of one event."""
    if what.time is None:
        return None
    pool = [
        t for t in _times_of(what.time.tense, what.time.kind) if t.template != what.time.template
    ]
    return replace(what, time=rng.choice(pool)) if pool else None


def other_number(what: Event, rng: random.Random) -> Event | None:
    """Another number of the object."""
    if what.theme is None or what.theme.number < 2:
        return None
    counts = [n for n in range(2, 10) if n != what.theme.number]
    return replace(what, theme=replace(what.theme, number=rng.choice(counts)))


def _other_like(thing: Thing, rng: random.Random, avoid: Sequence[Thing]) -> Thing:
    if thing.noun.kind == "name":
        return named(rng, thing.key, [thing, *avoid], surname=1.0 if thing.surname else 0.0)
    kind = thing.noun.kind.rstrip("*")
    found = common(rng, kind, thing.key, [thing, *avoid], thing.definite)
    gender = found.gender if kind == "person" else "n"
    return replace(thing, noun=found.noun, gender=gender)


def other_agent(what: Event, rng: random.Random) -> Event:
    """Another subject of the same class."""
    avoid = [t for t in (what.theme, what.recipient) if t]
    return _with_agent(what, _other_like(what.agent, rng, avoid))


def _with_agent(what: Event, agent: Thing) -> Event:
    """Replace the subject, also in the reason and as the owner of the subject's things."""
    reason, theme = what.reason, what.theme
    if reason is not None:
        reason = replace(reason, agent=agent)
    if theme is not None and theme.owner == what.agent:
        theme = replace(theme, owner=agent)
    return replace(what, agent=agent, theme=theme, reason=reason)


def other_theme(what: Event, rng: random.Random) -> Event | None:
    """Another object of the same class, with the same adjectives."""
    if what.theme is None:
        return None
    avoid = [t for t in (what.agent, what.recipient) if t]
    return replace(what, theme=_other_like(what.theme, rng, avoid))


def other_verb(what: Event, rng: random.Random) -> Event | None:
    """Another verb that takes the same participants."""
    theme = "" if what.theme is None else _kind(what.theme)
    fitting = [
        v
        for v in verbs()
        if not set(v.words) & set(what.verb.words)
        and ("d" in v.flags) == (what.recipient is not None)
        and ("s" in v.flags) == ("s" in what.verb.flags)
        and _kind(what.agent) in v.subjects
        and (theme in v.objects if theme else not v.objects)
        and (what.manner is None or _manner_group(v) == _manner_group(what.verb))
    ]
    return replace(what, verb=rng.choice(fitting)) if fitting else None


def swap(what: Event) -> Event | None:
    """Swap subject and object."""
    if what.recipient is not None and _kind(what.agent) == "person":
        if what.theme is not None and what.theme.owner is not None:
            return None
        return _with_agent(replace(what, recipient=what.agent), what.recipient)
    if what.theme is None or _kind(what.theme) != _kind(what.agent):
        return None
    return _with_agent(replace(what, theme=what.agent), what.theme)


def generalise(thing: Thing) -> Thing | None:
    """The same thing with a more general noun: a poodle is a dog."""
    if not thing.noun.hypernym or thing.noun.proper:
        return None
    return replace(thing, noun=noun(thing.noun.hypernym))
