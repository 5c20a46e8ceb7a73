"""Trials of the inferences about the redundancy of heads (section 5)."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from adversarial.trials import CI, LEVEL, NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.redundancy.declared import DIFFERENT_LAYERS, NEAREST, SAME_LAYER
from darksecrets.beyond.redundancy.measure.distances import Distances
from darksecrets.beyond.redundancy.measure.statistics import summarize

Floats = npt.NDArray[np.float64]

_LAYERS, _HEADS, _EXAMPLES = 4, 4, 30
_COUNT = _LAYERS * _HEADS
_SEEDS = 3


def redundancy(size: Size, folder: Path) -> Iterator[Trial]:
    """Heads that are near in their layer, or nearest, or nearer after fine-tuning."""
    for kind, truth in (("heads in layers at random", NULL), ("layers are apart", POWER)):
        rng, made = np.random.default_rng(31), Statements()
        for _ in range(size.sweeps):
            centres = rng.normal(size=(_LAYERS, 1, 2)) * (truth == POWER)
            places = 0.05 * (centres + rng.normal(size=(_LAYERS, _HEADS, 2))).reshape(-1, 2)
            table = _summary(_distances(rng, _between(places)))
            row = table[table["pairs"] == SAME_LAYER]
            made.each("redundancy: p_value < 0.05", row["p_value"] < LEVEL)
            made.each("redundancy: q_value < 0.05", row["q_value"] < LEVEL)
            if truth == POWER:
                made.interval("redundancy", "difference", row)
        yield from made.trials(kind, truth)
    yield from _alike(size)


def _alike(size: Size) -> Iterator[Trial]:
    """Every two heads have the same distance, up to chance; so has the nearest."""
    rng, made = np.random.default_rng(32), Statements()
    pairs = math.comb(_COUNT, 2)
    for _ in range(size.sweeps):
        table = _summary(_distances(rng, np.full(pairs, 0.2)))
        compared = table[table["pairs"].isin([SAME_LAYER, DIFFERENT_LAYERS, NEAREST])]
        made.interval("redundancy", "difference", compared)
        made.interval("redundancy", "distance", table[table["pairs"] != NEAREST], CI, 0.2)
    yield from made.trials("all heads are as far apart")


def _between(places: Floats) -> Floats:
    """[pairs] distances of positions."""
    first, second = np.triu_indices(len(places), 1)
    return np.linalg.norm(places[first] - places[second], axis=1)


def _distances(rng: np.random.Generator, true: Floats, of_example: Floats | float = 1) -> Distances:
    """Measured distances, with noise of each example and pair, and of each example and head."""
    first, second = np.triu_indices(_COUNT, 1)
    of_heads = 0.1 * rng.normal(size=(_EXAMPLES, _COUNT))
    noise = of_heads[:, first] + of_heads[:, second] + 0.1 * rng.normal(size=(_EXAMPLES, len(true)))
    pairs = of_example * true * (1 + noise)
    others = 0.2 * np.ravel(of_example) * (1 + 0.1 * rng.normal(size=(2, _EXAMPLES)))
    return Distances((_LAYERS, _HEADS), np.arange(_EXAMPLES), pairs, *others)


def _summary(found: Distances) -> pd.DataFrame:
    model = {"task": "t", "state": "pretrained", "seed": None}
    return summarize(found.mean_by_example().assign(**model), found.table().assign(**model))
