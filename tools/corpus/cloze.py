"""Sentences with a masked word, from templates: facts and their negation, roles, pronouns."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from tools.corpus import lexicon
from tools.corpus.pairs import STATES

ITEMS = 60
_OF_A_KIND = 10
"""Nouns with the same hypernym, at most, so that no answer is right most of the time."""
_VERBS = ("find", "feed", "pet", "watch", "free", "sketch")


def cloze(seed: int) -> str:
    """A file of JSON lines: ``sentence``, ``right``, ``set``, ``condition``, ``item``."""
    rng = random.Random(f"cloze|{seed}")
    rows = [*_facts(rng), *_roles(rng), *_pronouns(rng)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def _facts(rng: random.Random) -> Iterator[dict[str, object]]:
    """What a thing is, and what it is not, by the hypernyms of the lexicon."""
    by_kind: dict[str, list[lexicon.Noun]] = {}
    for noun in lexicon.nouns():
        if noun.hypernym and not noun.proper:
            by_kind.setdefault(noun.hypernym, []).append(noun)
    some = [
        noun for kind in by_kind.values() for noun in rng.sample(kind, min(len(kind), _OF_A_KIND))
    ]
    for number, noun in enumerate(rng.sample(some, ITEMS), 1):
        word = noun.words[0]
        article = "An" if word[0] in "aeiou" else "A"
        gap = "an" if noun.hypernym[0] in "aeiou" else "a"
        for condition, negation in (("affirmed", ""), ("negated", " not")):
            yield {
                "sentence": f"{article} {word} is{negation} {gap} [MASK].",
                "right": noun.hypernym,
                "set": "facts",
                "condition": condition,
                "item": number,
            }


def _roles(rng: random.Random) -> Iterator[dict[str, object]]:
    """What a person did to an animal, and the animal to the person."""
    seen = set[tuple[str, str, str]]()
    while len(seen) < ITEMS:
        person = rng.choice(lexicon.nouns_of("person")).words[0]
        animal = rng.choice(lexicon.nouns_of("animal")).words[0]
        verb = lexicon.inflect(rng.choice(_VERBS), "VBD")
        if (person, animal, verb) in seen:
            continue
        seen.add((person, animal, verb))
        for condition, (agent, theme) in {
            "original": (person, animal),
            "reversed": (animal, person),
        }.items():
            yield {
                "sentence": f"The {agent} [MASK] the {theme}.",
                "right": verb,
                "set": "roles",
                "condition": condition,
                "item": len(seen),
            }


def _pronouns(rng: random.Random) -> Iterator[dict[str, object]]:
    """The pronoun of a name."""
    for number in range(1, ITEMS + 1):
        kind, pronoun = rng.choice((("female", "she"), ("male", "he")))
        name = rng.choice(lexicon.names(kind))
        verb = lexicon.inflect(rng.choice(_VERBS), "VBD")
        animal = rng.choice(lexicon.nouns_of("animal")).words[0]
        state = rng.choice(STATES)
        yield {
            "sentence": f"{name} {verb} the {animal} because [MASK] was {state}.",
            "right": pronoun,
            "set": "pronouns",
            "item": number,
        }
