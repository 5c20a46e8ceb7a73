"""Trials of what is said of heads and syntactic relations (Clark et al. 2019)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from made_up_syntax import (
    Rule,
    anywhere,
    guesses,
    most_frequent_noun,
    offset,
    one_tag,
    place,
    read,
    relation,
    word_maps,
)

from adversarial.trials import LEVEL, NULL, ONE_END, POWER, ROUNDING, Size, Statements, Trial
from darksecrets.syntax import distractors, heads, trees
from darksecrets.syntax.tables import NO
from darksecrets.syntax.treebank import builtin

_SENTENCES = 200
_FREQUENT = ("all", "nsubj", "det", "dobj", "pobj", "prep")
"""Labels that every draw has enough of."""


def relations(size: Size, folder: Path) -> Iterator[Trial]:
    """Heads of one distance, one place, one word or none, on sentences of the grammar."""
    simple: dict[str, list[Rule]] = {
        "offset": [offset(distance) for distance in (-3, -2, -1, 1, 2, 3)],
        "place": [place(number) for number in (0, 1, -1, -2)],
        "one word": [most_frequent_noun(builtin(500, 1)), one_tag("NN"), one_tag("VBD")],
        "random weights": [anywhere] * size.noises,
    }
    for kind, rules in simple.items():
        made = Statements()
        for draw in range(size.corpora):
            every = _table(rules, draw)
            found = every[every["label"].isin(_FREQUENT)]
            made.each("syntactic_heads: p_value", found["p_value"] < LEVEL)
            made.any("syntactic_heads: q_value and syntactic", every["syntactic"] != NO)
            lower = found["over_offset_low"] > ROUNDING
            made.each("syntactic_heads: interval of over_offset above 0", lower, ONE_END)
        yield from made.trials(kind, NULL)
    for share in (0.7, 1.0):
        made = Statements()
        for draw in range(size.corpora):
            found = _table([relation("dobj", share)], draw)
            found = found[found["label"] == "dobj"]
            made.each("syntactic_heads: syntactic", found["syntactic"] != NO)
        yield from made.trials(f"planted, {share:.0%}", POWER)


def trees_and_subjects(size: Size, folder: Path) -> Iterator[Trial]:
    """Trees of heads of one distance, one place or none; and what these give to subjects."""
    kinds = {
        "random weights": [anywhere] * 6,
        "offset": [offset(distance) for distance in (-2, -1, 1, 2)],
        "place": [place(number) for number in (0, 1, -1, -2)],
    }
    for kind, rules in kinds.items():
        made = Statements()
        for draw in range(size.corpora):
            rng = np.random.default_rng([44, draw])
            own = read(60, 200 + draw)
            maps = word_maps(own, rules, rng)
            sentences = [each.sentence for each in own]
            found = trees.table(own, trees.of_trees(maps, sentences), draw)
            made.each("attention_trees: p_value", found["p_value"] < LEVEL)
            made.any("attention_trees: q_value", found["q_value"] < LEVEL)
            made.each(
                "attention_trees: interval of over_chain above 0",
                found["over_chain_low"] > ROUNDING,
                ONE_END,
            )
            if kind == "random weights":
                shares = distractors.table(own, distractors.of_subjects(maps, sentences))
                rows = shares[(shares["distractors"] == "any") & shares["layer"].isna()]
                made.interval("distractors", "over_uniform", rows)
        yield from made.trials(kind, NULL)


def _table(rules: list[Rule], draw: int) -> pd.DataFrame:
    sentences = read(_SENTENCES, 100 + draw)
    rng = np.random.default_rng([43, draw])
    return heads.table(sentences, guesses(sentences, rules, rng), draw)
