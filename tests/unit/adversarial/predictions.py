"""Trials of predictions: preferences for words, and impact that is near or nowhere."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from made_up_layers import trees

from adversarial import sweeps
from adversarial.models import SAMPLES
from adversarial.trials import LEVEL, LIMIT, NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.predictions.cloze import Item
from darksecrets.beyond.predictions.declared import AGREEMENT_GROUPS, AGREEMENT_HEADS
from darksecrets.beyond.predictions.measure.answering import Answer, cloze_rows
from darksecrets.beyond.predictions.measure.impact import Counts, eisner, tree_row
from darksecrets.beyond.predictions.measure.judging import pair_rows
from darksecrets.beyond.predictions.measure.needed import tables_of
from darksecrets.beyond.predictions.pairs import Pair
from darksecrets.core.data.sentences import ROOT


def of_pairs(size: Size, folder: Path) -> Iterator[Trial]:
    """A preference for singular verbs, random likelihoods, and likelihoods that are often right."""
    for kind, truth in (
        ("singular verbs are preferred", NULL),
        ("random likelihoods", NULL),
        ("three in four are right", POWER),
    ):
        made = Statements()
        for draw in range(4 * size.sweeps):
            rng, pairs = np.random.default_rng(draw), [Pair("a", "b", "agreement", 1)] * 60
            counted = rng.normal(size=120)
            own = rng.normal(size=120)
            if kind.startswith("singular"):
                own[::2] = np.where(rng.random(60) < 1 / 2, 5, -5)
            if truth == POWER:
                own[::2] = own[1::2] + np.where(rng.random(60) < 3 / 4, 1, -1)
            names = ("accuracy", "whole_words", "unigrams", "bigrams")
            likelihoods = dict(zip(names, (own, own, counted, counted), strict=True))
            rows = pair_rows(pairs, likelihoods, {})
            above = rows["over_bigrams_low"] > 0
            made.each("minimal_pairs: over_bigrams is above 0", above, 0.025)
            made.interval("minimal_pairs", "accuracy", rows, truth=0.5)
        yield from made.trials(kind, truth)


def of_impact(size: Size, folder: Path) -> Iterator[Trial]:
    """Words that have an impact on those nearby, whatever the tree, or at random."""
    for kind in ("impact of neighbours", "random impact"):
        made = Statements()
        for draw in range(size.sweeps):
            rng, counts = np.random.default_rng(draw), []
            for one in trees(30, 10, seed=draw):
                places = np.arange(len(one))
                impact = rng.random((len(one), len(one)))
                if kind.startswith("impact"):
                    impact = 1 / (1 + np.abs(places[:, None] - places)) + 1e-3 * impact
                counts.append(Counts.of(eisner(impact, one.heads.index(ROOT)), one))
            above = pd.Series([tree_row(counts)["over_chain_low"]]) > 0
            made.each("trees: over_chain is above 0", above, 0.025)
        yield from made.trials(kind, NULL if kind.startswith("impact") else LIMIT)


def of_gaps(size: Size, folder: Path) -> Iterator[Trial]:
    """Right words that are as probable under one condition as under another."""
    rng, made = np.random.default_rng(0), Statements()
    for _ in range(size.sweeps):
        answers = [
            Answer(Item("gap [MASK]", "word", "set", condition, str(number)), 1, probability, 0)
            for condition in ("affirmed", "negated")
            for number, probability in enumerate(rng.normal(-2, 1, 40).tolist())
        ]
        rows = cloze_rows(answers, Counter())
        made.interval("cloze", "change", rows[rows["condition"] == "negated"])
    yield from made.trials("two conditions alike")


def of_needed_heads(size: Size, folder: Path) -> Iterator[Trial]:
    """Agreement without each head: none matters, a whole layer does, or heads of subjects do."""
    shape = sweeps.Shape(size.examples, size.layers, size.layers)
    heads = sweeps.places(shape).query("kind == 'head'")[["layer", "head"]]
    subjects = [7, 13, 19]  # numbers of heads, from 1, in three layers
    layer = dict.fromkeys(range(6, 6 + size.layers), -0.5)
    for kind, effects, truth in (
        ("no head matters", {}, NULL),
        ("all heads of a layer matter alike", layer, NULL),
        ("heads between verbs and subjects matter", dict.fromkeys(subjects, -0.5), POWER),
    ):
        rng, made = np.random.default_rng(1), Statements()
        levels = np.where(np.isin(np.arange(1, len(heads) + 1), subjects), 0.001, 0.5)
        attended = {"task": "t", "state": "pretrained", "seed": pd.NA}
        pairs = heads.assign(relation="verb to subject", q_value=levels, **attended)
        for _ in range(size.sweeps):
            swept = sweeps.sweep(sweeps.CLASSES, rng, shape, effects).result
            tables = tables_of(swept, pairs, SAMPLES)
            group, own = tables[AGREEMENT_GROUPS], tables[AGREEMENT_HEADS]
            made.each("agreement_groups: p_value < 0.05", group["p_value"] < LEVEL)
            made.interval("agreement_groups", "over_control", group)
            if not effects:
                made.each("agreement_heads: p_value < 0.05", own["p_value"] < LEVEL)
                made.any("agreement_heads: q_value < 0.05", own["q_value"] < LEVEL)
                made.interval("agreement_heads", "delta", own, ("ci_low", "ci_high"))
        yield from made.trials(kind, truth)
