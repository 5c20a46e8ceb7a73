"""Trials of predictions: preferences for words, and impact that is near or nowhere."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from made_up_layers import trees

from adversarial.trials import LIMIT, NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.predictions.measure.impact import Counts, eisner, tree_row
from darksecrets.beyond.predictions.measure.judging import pair_rows
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
