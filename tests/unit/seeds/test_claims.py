"""Claims about grids of seeds: their numbers, tables that decide them each way, and null grids."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, YES, Frames, together, whole
from made_up_grids import TASK, grid_of, normal_skill
from scipy.stats import binom

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Run, Tables
from darksecrets.contracts import TABLES
from darksecrets.seeds.claims import shared_starts, start_against_order, told_early
from darksecrets.seeds.statistics import tables

(PAPER,) = (paper for paper in registry.read(registry.files()) if paper.name == "dodge2020")
CLAIMS = {claim.id: claim for claim in PAPER.claims}
ON = ("RTE", "QNLI", "SST-2")
ONE_SEED = Run(dict.fromkeys(ON, ("accuracy",)), dict.fromkeys(ON, (1,)))
Shape = tuple[int, int]


def decided(name: str, frames: Frames, run: Run = RUN) -> deciding.Finding:
    return deciding.decide(CLAIMS[name], PAPER.tasks, Tables(frames, TABLES), run)


def rows(table: str, *made: dict[str, object]) -> Frames:
    return whole({table: pd.DataFrame(made)})


def gains(*values: float, half: float = 1.0) -> Frames:
    """Of three draws, of which only four runs are asked for; a second metric says the opposite."""
    return rows(
        "expected_maximum",
        *(
            {"task": task, "metric": metric, "drawn": drawn, "gain": gain}
            | {"gain_low": gain - half, "gain_high": 100 - 70.0 if value else 0.5}
            for task, value in zip(ON, values, strict=False)
            for metric, sign in (("accuracy", 1), ("f1", -1))
            for drawn in (3, 4, 9)
            for gain in (value * sign if drawn == 4 else -value * sign,)
        ),
    )


def variances(start: float, order: float, p: float = 0.5, levels: int = 25) -> Frames:
    free = levels - 1
    parts = (("init", start, free), ("order", order, free), ("residual", 0.5, free**2))
    return rows(
        "seed_variance",
        *(
            {"task": task, "metric": "accuracy", "component": name, "degrees": degrees}
            | {"variance": value, "p_value": None if name == "residual" else p}
            for task in ON
            for name, value, degrees in parts
        ),
    )


def cells(*of_tasks: Sequence[float]) -> Frames:
    """Final scores by start, of both orders; after the first epoch, the reverse."""
    return rows(
        "seed_grid",
        *(
            {"task": task, "metric": "accuracy", "init_seed": start, "order_seed": order}
            | {"epoch": epoch, "score": score + order if epoch == 2 else -score}
            for task, scores in zip(ON, of_tasks, strict=False)
            for start, score in enumerate(scores)
            for order in (1, 2)
            for epoch in (1, 2)
        ),
    )


def stopping(*p_values: float, epochs: int = 3) -> Frames:
    """p-values of the last epoch in the first third; those of others are 0."""
    return rows(
        "early_stopping",
        *(
            {"task": task, "metric": "accuracy", "epoch": epoch}
            | {"p_value": p if epoch == epochs // 3 else 0.0}
            for task, p in zip(ON, p_values, strict=False)
            for epoch in range(1, epochs)
        ),
    )


GOOD = [1.0, 2.0, 4.0, 3.0]
CASES: dict[str, dict[Answer, Frames]] = {
    "G1": {YES: gains(4, 3), NO: gains(4, 0), OPEN: gains(4, 1.5)},
    "G2": {YES: variances(4, 4, 0.01), OPEN: variances(4, 4, 0.06)},
    "G3": {YES: variances(4, 4), NO: variances(40, 0.1), OPEN: variances(4, 4, levels=3)},
    "G4": {YES: cells(GOOD, GOOD, GOOD), OPEN: cells(GOOD, [2, 1, 3, 4], [4, 3, 2, 1])},
    "G5": {YES: stopping(0.01, 0.04), OPEN: stopping(0.01, 0.06)},
}


def test_every_claim_has_its_cases() -> None:
    """Tests never refute."""
    assert set(CASES) == set(CLAIMS)
    for name, claim in CLAIMS.items():
        tested = any(question.test for question in claim.questions)
        assert set(CASES[name]) == ({YES, OPEN} if tested else {YES, NO, OPEN})


@pytest.mark.parametrize(
    ("name", "answer"), [(name, answer) for name, cases in CASES.items() for answer in cases]
)
def test_a_claim_is_decided(name: str, answer: Answer) -> None:
    for run in (RUN, ONE_SEED):  # the grid has seeds of its own
        found = decided(name, CASES[name][answer], run)
        assert found.answer == answer, found
        assert found.reason


@pytest.mark.parametrize("name", CASES)
def test_a_run_without_a_grid_leaves_them_open_and_says_why(name: str) -> None:
    found = decided(name, {})
    (table,) = CLAIMS[name].tables
    assert found.answer == OPEN
    assert found.reason == f"{table}.csv is not made by this run"
    assert found.needs == ""


@pytest.mark.parametrize("name", CASES)
def test_a_table_without_rows_leaves_them_open(name: str) -> None:
    found = decided(name, {key: frame.iloc[:0] for key, frame in CASES[name][YES].items()})
    assert found.answer == OPEN
    assert found.reason.endswith("has no such rows")


def test_starts_are_compared_by_all_permutations() -> None:
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


def test_early_is_the_last_epoch_of_the_first_third() -> None:
    for epochs, p in ((3, 0.5), (10, 0.7)):
        found = told_early(stopping(p, epochs=epochs)["early_stopping"])
        assert found["value"].tolist() == [p]
    assert told_early(stopping(0.5, epochs=2)["early_stopping"]).empty


def test_the_balance_of_equal_variances_is_zero() -> None:
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


@pytest.mark.parametrize("shape", [(3, 3), (4, 3)])
@pytest.mark.parametrize("kind", NULLS)
def test_null_grids_are_decided_no_more_often_than_stated(kind: str, shape: Shape) -> None:
    """Answers of 40 grids through tables and claims; scores part-way say nothing.

    G2 needs two tests at 5 %, G5 one; each end of an interval is at 2.5 %.
    """
    rng, trials, found = np.random.default_rng(11), 40, Counter[tuple[str, Answer]]()
    for _ in range(trials):
        frames = tables(grid_of(rng, NULLS[kind](rng, shape)), 100, 1)
        found.update((name, decided(name, frames, ONE_SEED).answer) for name in FALSE[kind])
    for name, wrong in FALSE[kind].items():
        count = sum(found[name, answer] for answer in wrong)
        assert count <= binom.ppf(0.999, trials, 0.05), (name, found)


def test_starts_that_are_good_on_one_task_each_are_not_shared() -> None:
    rng, trials, said = np.random.default_rng(12), 200, 0
    for _ in range(trials):
        skills = [100 * normal_skill(rng, (4, 3), 6, 2, 2).mean(axis=1) for _ in ON]
        said += decided("G4", cells(*skills), ONE_SEED).answer == YES
    assert said <= binom.ppf(0.999, trials, 0.05)


def test_planted_effects_are_found() -> None:
    """Starts and orders of equal variance, the same on all tasks, seen after the first epoch."""
    rng = np.random.default_rng(13)
    start, order = (rng.permutation(np.linspace(-0.15, 0.15, 20)) for _ in range(2))
    skill = 0.7 + start[:, None] + order + 0.01 * rng.normal(size=(20, 20))
    one = tables(grid_of(rng, np.clip(skill, 0, 0.99), early=0.9, examples=200), 100, 1)
    for name in ("G1", "G2", "G3", "G5"):
        assert decided(name, one, ONE_SEED).answer == YES, name
    parts = [
        tables(grid_of(rng, skill[:6, :3], task=replace(TASK, name=task)), 100, 1) for task in ON
    ]
    assert decided("G4", together(*parts), ONE_SEED).answer == YES
    only = 0.7 + start[:, None] + 0.01 * rng.normal(size=(20, 20))
    assert decided("G3", tables(grid_of(rng, only), 100, 1), ONE_SEED).answer == NO
