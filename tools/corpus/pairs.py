"""Pairs of a right and a wrong sentence, from templates: agreement, pronouns, polarity."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial

from tools.corpus import lexicon

Both = tuple[str, str]
"""A right and a wrong sentence."""

PER_KIND = 60
_COPULAS = (("was", "were"), ("is", "are"))
STATES = ("tired", "sad", "happy", "angry", "nervous", "proud", "hungry", "calm")
_VERBS = ("find", "feed", "pet", "watch")
_NEAR = ("near", "behind", "beside", "with")


def pairs(seed: int) -> str:
    """A file of JSON lines in the layout of BLiMP; ``attractors`` where they are counted."""
    makers: dict[tuple[str, int | None], Callable[[random.Random], Both]] = {
        **{("agreement", number): partial(_agreement, number) for number in range(3)},
        ("pronoun", None): _pronoun,
        ("reflexive", None): _reflexive,
        ("polarity", None): _polarity,
    }
    rows = []
    for (kind, attractors), make in makers.items():
        rng, seen = random.Random(f"pairs|{seed}|{kind}|{attractors}"), set[str]()
        while len(seen) < PER_KIND:
            right, wrong = make(rng)
            if right not in seen:
                seen.add(right)
                row = {"sentence_good": right, "sentence_bad": wrong, "UID": kind}
                counted = {} if attractors is None else {"attractors": attractors}
                rows.append({**row, **counted})
    return "".join(json.dumps(row) + "\n" for row in rows)


def _pronoun(rng: random.Random) -> Both:
    """A name, and a pronoun of the same or the other gender."""
    name, own, other = _named(rng)
    verb = lexicon.inflect(rng.choice(_VERBS), "VBD")
    thing = rng.choice(lexicon.nouns_of("animal")).words[0]
    state = rng.choice(STATES)
    right, wrong = (
        f"{name} {verb} the {thing} because {pronoun} was {state}."
        for pronoun in (own[0], other[0])
    )
    return right, wrong


def _reflexive(rng: random.Random) -> Both:
    """A name, and a reflexive pronoun of the same or the other gender."""
    name, own, other = _named(rng)
    verb = lexicon.inflect(rng.choice(("help", "praise", "blame", "thank", "hurt")), "VBD")
    return f"{name} {verb} {own[1]}.", f"{name} {verb} {other[1]}."


def _polarity(rng: random.Random) -> Both:
    """``any`` after a negative subject, and after one that is not."""
    noun = rng.choice(lexicon.nouns_of("person")).words[0]
    verb = lexicon.inflect(rng.choice(_VERBS), "VBD")
    thing = rng.choice(lexicon.nouns_of("animal")).words[0]
    return (
        f"No {noun} {verb} any {lexicon.plural(thing)}.",
        f"The {noun} {verb} any {lexicon.plural(thing)}.",
    )


def _agreement(attractors: int, rng: random.Random) -> Both:
    """A subject, nouns of the other number after it, and a verb in both numbers."""
    nouns = rng.sample([noun.words[0] for noun in lexicon.nouns_of("person")], attractors + 1)
    is_plural = rng.random() < 1 / 2
    forms = [
        lexicon.plural(noun) if is_plural == (place == 0) else noun
        for place, noun in enumerate(nouns)
    ]
    subject = "The " + "".join(
        f"{rng.choice(_NEAR)} the {form} " if place else f"{form} "
        for place, form in enumerate(forms)
    )
    one, many = rng.choice(_COPULAS)
    state = rng.choice(STATES)
    verbs = (many, one) if is_plural else (one, many)
    right, wrong = (f"{subject}{verb} {state}." for verb in verbs)
    return right, wrong


def _named(rng: random.Random) -> tuple[str, tuple[str, str], tuple[str, str]]:
    """A name, the pronouns that fit, and those that do not."""
    both = {"female": ("she", "herself"), "male": ("he", "himself")}
    kind = rng.choice(("female", "male"))
    other = "male" if kind == "female" else "female"
    return rng.choice(lexicon.names(kind)), both[kind], both[other]
