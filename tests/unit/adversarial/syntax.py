"""Trials of what is said of heads and syntactic relations (Clark et al. 2019)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from made_up_syntax import guesses, read, relation

from adversarial import families, maps
from adversarial.trials import (
    LEVEL,
    NULL,
    ONE_END,
    POWER,
    ROUNDING,
    Size,
    Statements,
    Trial,
    by_kind,
)
from darksecrets.beyond.syntax.declared import NO
from darksecrets.beyond.syntax.measure import heads
from darksecrets.beyond.syntax.measure.distractors import choices
from darksecrets.beyond.syntax.measure.guesses import Read

_SENTENCES = 200
_FREQUENT = ("all", "nsubj", "det", "dobj", "pobj", "prep")
"""Labels that every draw has enough of."""
_ANYWHERE = (maps.OFFSET, *(name for name in maps.PLACES if name.startswith("absolute")))
"""Kinds of heads that the best offset is as good as, and chance."""


def relations(size: Size, folder: Path) -> Iterator[Trial]:
    """Ignorant heads on sentences that ship, and heads that follow direct objects."""
    of, kinds = maps.registry(size.noises)
    p, syntactic, made = [], [], Statements()
    for draw in range(size.corpora):
        sentences, rng = read(_SENTENCES, 100 + draw), np.random.default_rng([43, draw])
        every = families.of_relations(sentences, of, rng, draw).sort_values("head", kind="stable")
        found = every[every["label"].isin(_FREQUENT)]
        p.append((found["p_value"] < LEVEL).to_numpy())
        syntactic.append((found["syntactic"] != NO).to_numpy())
        made.any("syntactic_heads: q_value and syntactic", every["syntactic"] != NO)
        simple = found[np.isin(kinds, (*_ANYWHERE, *maps.NOISES))[found["head"] - 1]]
        lower = simple["over_offset_low"] > ROUNDING
        made.each("syntactic_heads: interval of over_offset above 0", lower, ONE_END)
    yield from by_kind("syntactic_heads: p_value", NULL, kinds, p, LEVEL)
    yield from by_kind("syntactic_heads: syntactic", NULL, kinds, syntactic, LEVEL)
    yield from made.trials("all of these heads")
    for share in (0.7, 1.0):
        made = Statements()
        for draw in range(size.corpora):
            sentences, rng = read(_SENTENCES, 100 + draw), np.random.default_rng([43, draw])
            guessed = guesses(sentences, [relation("dobj", share)], rng)
            found = heads.table(sentences, guessed, draw)
            found = found[found["label"] == "dobj"]
            made.each("syntactic_heads: syntactic", found["syntactic"] != NO)
        yield from made.trials(f"planted, {share:.0%}", POWER)


def trees_and_subjects(size: Size, folder: Path) -> Iterator[Trial]:
    """Trees of ignorant heads, and what these give to subjects; and heads that follow subjects."""
    of, kinds = maps.registry(size.noises)
    weights = (0.1, 0.25, 0.5)
    made = {name: list[np.ndarray]() for name in ("tree", "subjects", "followers")}
    trees, noise = Statements(), Statements()
    for draw in range(size.corpora):
        sentences, rng = read(_SENTENCES, 200 + draw), np.random.default_rng([44, draw])
        found = families.of_trees(sentences[:60], of, rng, draw).sort_values("head", kind="stable")
        made["tree"].append((found["p_value"] < LEVEL).to_numpy())
        trees.any("attention_trees: q_value", found["q_value"] < LEVEL)
        above = found["over_chain_low"] > ROUNDING
        trees.each("attention_trees: interval of over_chain above 0", above, ONE_END)
        texts = families.texts_of(sentences)
        followers = {f"{weight:.0%}": follower(sentences, texts, weight) for weight in weights}
        shares = families.of_subjects(sentences, texts, {**of, **followers}, rng)
        passed = families.exceeds_controls(shares)
        made["subjects"].append(passed[: len(of)])
        made["followers"].append(passed[len(of) :])
        rows = shares[np.isin([*kinds, *followers], [*maps.NOISES])]
        for column in ("over_uniform", "over_places", "over_rank"):
            noise.interval("distractors", column, rows)
    yield from by_kind("attention_trees: p_value", NULL, kinds, made["tree"], LEVEL)
    yield from trees.trials("all of these heads")
    yield from noise.trials("random weights and Dirichlet")
    above = "distractors: over_uniform, over_places and over_rank above 0"
    yield from by_kind(above, NULL, kinds, made["subjects"], ONE_END)
    planted = [f"{weight:.0%} of the weight goes to subjects" for weight in weights]
    yield from by_kind(above, POWER, planted, made["followers"], ONE_END)


def follower(sentences: list[Read], texts: list[maps.Text], weight: float) -> maps.Head:
    """Noise; some of the weight of verbs goes to their subjects."""
    pairs = {
        id(text): [(each.verb + 1, each.subject + 1) for each in choices(one.sentence, one.apart)]
        for one, text in zip(sentences, texts, strict=True)
    }
    return maps.planted(pairs, 1.0, weight)
