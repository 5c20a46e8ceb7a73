"""Claims about grids of seeds: their numbers, tables that decide them each way, and null grids."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from claim_cases.seeds import GOOD, ON, ONE_SEED, cells, stopping, variances
from claim_tables import NO, YES, decide, together
from made_up_grids import TASK, grid_of, normal_skill
from scipy.stats import binom

from darksecrets.claims.answers import Answer
from darksecrets.seeds.claims import shared_starts, start_against_order, told_early
from darksecrets.seeds.statistics import tables

Shape = tuple[int, int]


def test_starts_are_compared_by_all_permutations():
    """Three tasks of four starts, in plain loops; what a task has only one score of is left out."""
    scores = np.array([GOOD, [1.0, 3.0, 4.0, 2.0], [2.0, 1.0, 4.0, 3.5]])
    units = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    beyond = total = 0
    for orders in itertools.product(itertools.permutations(range(4)), repeat=2):
        moved = units[0] + units[1][list(orders[0])] + units[2][list(orders[1])]
        beyond += (moved**2).sum() >= (units.sum(axis=0) ** 2).sum() - 1e-9
        total += 1
    assert shared_starts(cells(*scores)["seed_grid"])["value"].item() == beyond / total
    assert shared_starts(cells(GOOD, [5.0] * 4)["seed_grid"]).empty
    assert shared_starts(cells(GOOD)["seed_grid"]).empty


def test_early_is_the_last_epoch_of_the_first_third():
    for epochs, p in ((3, 0.5), (10, 0.7)):
        found = told_early(stopping(p, epochs=epochs)["early_stopping"])
        assert found["value"].tolist() == [p]
    assert told_early(stopping(0.5, epochs=2)["early_stopping"]).empty


def test_the_balance_of_equal_variances_is_zero():
    found = start_against_order(variances(4, 4)["seed_variance"])
    assert found["value"].tolist() == [0.0] * len(ON)
    assert found["low"].to_numpy() == pytest.approx(-found["high"].to_numpy(), abs=0.03)
    assert start_against_order(variances(-1, -2)["seed_variance"])["value"].isna().all()


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
    "equal runs": {"G1": {YES}, "G2": {YES}, "G3": {YES, NO}, "G5": {YES}},
    "runs that differ by themselves": {"G2": {YES}, "G3": {YES, NO}, "G5": {YES}},
    "starts only": {"G2": {YES}, "G3": {YES}, "G5": {YES}},
    "orders only": {"G2": {YES}, "G3": {YES}, "G5": {YES}},
    "one bad run": {"G1": {YES}, "G2": {YES}, "G3": {YES, NO}, "G5": {YES}},
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


def test_starts_that_are_good_on_one_task_each_are_not_shared():
    rng, trials, said = np.random.default_rng(12), 200, 0
    for _ in range(trials):
        skills = [100 * normal_skill(rng, (4, 3), 6, 2, 2).mean(axis=1) for _ in ON]
        said += decide("G4", cells(*skills), ONE_SEED).answer == YES
    assert said <= binom.ppf(0.999, trials, 0.05)


def test_planted_effects_are_found():
    """Starts and orders of equal variance, the same on all tasks, seen after the first epoch."""
    rng = np.random.default_rng(13)
    start, order = (rng.permutation(np.linspace(-0.15, 0.15, 20)) for _ in range(2))
    skill = 0.7 + start[:, None] + order + 0.01 * rng.normal(size=(20, 20))
    one = tables(grid_of(rng, np.clip(skill, 0, 0.99), early=0.9, examples=200), 100, 1)
    for name in ("G1", "G2", "G3", "G5"):
        assert decide(name, one, ONE_SEED).answer == YES, name
    parts = [
        tables(grid_of(rng, skill[:6, :3], task=replace(TASK, name=task)), 100, 1) for task in ON
    ]
    assert decide("G4", together(*parts), ONE_SEED).answer == YES
    only = 0.7 + start[:, None] + 0.01 * rng.normal(size=(20, 20))
    assert decide("G3", tables(grid_of(rng, only), 100, 1), ONE_SEED).answer == NO
