"""Claims about grids of seeds: their numbers, tables that decide them each way, and null grids."""

from collections import Counter

import numpy as np
import pytest
from claim_cases.seeds import ONE_SEED, stopping
from claim_tables import YES, decide
from made_up_grids import grid_of, normal_skill
from scipy.stats import binom

from darksecrets.beyond.seeds.measure.statistics import tables
from darksecrets.beyond.seeds.shown import told_early
from darksecrets.pages.claims.answers import Answer

Shape = tuple[int, int]


def test_early_is_the_last_epoch_of_the_first_third():
    for epochs, p in ((3, 0.5), (10, 0.7)):
        found = told_early(stopping(p, epochs=epochs)["early_stopping"])
        assert found["value"].tolist() == [p]
    assert told_early(stopping(0.5, epochs=2)["early_stopping"]).empty


def one_bad(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    skill = np.full(shape, 0.7)
    skill[tuple(rng.integers(shape))] = 0.5
    return skill


NULLS = {
    "equal runs": lambda rng, shape: normal_skill(rng, shape, 0, 0, 0),
    "runs that differ by themselves": lambda rng, shape: normal_skill(rng, shape, 0, 0, 3),
    "starts only": lambda rng, shape: normal_skill(rng, shape, 6, 0, 0),
    "orders only": lambda rng, shape: normal_skill(rng, shape, 0, 6, 0),
    "one bad run": one_bad,
}
FALSE = {
    "equal runs": {"G1": {YES}, "G2": {YES}, "G5": {YES}},
    "runs that differ by themselves": {"G2": {YES}, "G5": {YES}},
    "starts only": {"G2": {YES}, "G5": {YES}},
    "orders only": {"G2": {YES}, "G5": {YES}},
    "one bad run": {"G1": {YES}, "G2": {YES}, "G5": {YES}},
}
"""Answers that are wrong, or, of one bad run, more than can be known."""


@pytest.mark.thorough
@pytest.mark.parametrize("shape", [(3, 3), (4, 3)])
@pytest.mark.parametrize("kind", NULLS)
def test_null_grids_are_decided_no_more_often_than_stated(kind, shape):
    """Answers of 40 grids through tables and claims; scores part-way say nothing.

    G2 needs two tests at 5 %, G5 one; each end of an interval is at 2.5 %.
    """
    rng, trials, found = np.random.default_rng(11), 40, Counter[tuple[str, Answer]]()
    for _ in range(trials):
        frames = tables(grid_of(rng, NULLS[kind](rng, shape)), 100, 1)
        found.update((name, decide(name, frames, ONE_SEED).answer) for name in FALSE[kind])
    for name, wrong in FALSE[kind].items():
        count = sum(found[name, answer] for answer in wrong)
        assert count <= binom.ppf(0.999, trials, 0.05), (name, found)


def test_planted_effects_are_found():
    """Starts and orders of equal variance, seen after the first epoch."""
    rng = np.random.default_rng(13)
    start, order = (rng.permutation(np.linspace(-0.15, 0.15, 20)) for _ in range(2))
    skill = 0.7 + start[:, None] + order + 0.01 * rng.normal(size=(20, 20))
    one = tables(grid_of(rng, np.clip(skill, 0, 0.99), early=0.9, examples=200), 100, 1)
    for name in ("G1", "G2", "G5"):
        assert decide(name, one, ONE_SEED).answer == YES, name
