"""Claims of Kobayashi et al. (2020): their numbers, and tables that decide them each way."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, TASKS, YES, Frames, crossed, made, together

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES
from darksecrets.norms.claims import kept, length_of_frequent_words, norm_over_uniform

(PAPER,) = (paper for paper in registry.read(registry.files()) if paper.name == "kobayashi2020")
CLAIMS = {claim.id: claim for claim in PAPER.claims}


def encoder(column: str, value: float, kind: str = "special", **others: float) -> Frames:
    """A number of the whole pre-trained encoder on every task, ± 0.05; and of other encoders."""
    parts = []
    for state, layer, found in (
        ("pretrained", None, value),
        ("pretrained", 1, -9.0),
        ("finetuned", None, 9.0),
    ):
        values = crossed(TASKS, [kind], value=found)
        fixed = {"state": state, "layer": layer, "uniform": 0.2}
        parts.append(made("norm_levels", column, values, each=("task", "kind"), half=0.05, **fixed))  # type: ignore[arg-type]
    return together(*parts)


def shares(norm: float, over: float) -> Frames:
    """A share of norm, and how much it exceeds that with random lengths."""
    both = encoder("norm", norm)
    excess = encoder("over_control", over)["norm_levels"]
    names = ["over_control", "over_control_low", "over_control_high"]
    both["norm_levels"][names] = excess[names]
    return both


def lengths(frequent: float, other: float) -> Frames:
    return together(
        encoder("length", frequent, "frequent word"), encoder("length", other, "other word")
    )


CASES: dict[str, dict[Answer, Frames]] = {
    "N1": {
        YES: shares(0.1, -0.1),
        NO: shares(0.1, 0.1),
        OPEN: shares(0.2, -0.1),
    },
    "N2": {YES: encoder("kept", 0.4), NO: encoder("kept", 0.6), OPEN: encoder("kept", 0.5)},
    "N3": {
        YES: encoder("correlation", -0.3),
        NO: encoder("correlation", 0.3),
        OPEN: encoder("correlation", 0.01),
    },
    "N4": {YES: lengths(0.8, 1.1), NO: lengths(1.1, 0.8), OPEN: lengths(1, 1.01)},
}


def test_every_claim_has_its_cases() -> None:
    assert set(CASES) == set(CLAIMS)
    assert all(set(cases) == {YES, NO, OPEN} for cases in CASES.values())


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_decided(name: str, answer: Answer) -> None:
    tables = Tables(CASES[name][answer], TABLES)
    found = deciding.decide(CLAIMS[name], PAPER.tasks, tables, RUN)
    assert found.answer == answer, found
    assert found.reason


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_a_claim_stays_open(name: str) -> None:
    found = deciding.decide(CLAIMS[name], PAPER.tasks, Tables({}, TABLES), RUN)
    assert found.answer == OPEN
    assert "norm_levels.csv is not made by this run" in found.reason


def test_no_run_has_the_papers_data() -> None:
    assert all(claim.data == ("Wikipedia",) for claim in PAPER.claims)


def levels(**columns: list[float]) -> pd.DataFrame:
    """Rows of the whole pre-trained encoder, one for every task."""
    count = len(next(iter(columns.values())))
    fixed = {"state": "pretrained", "seed": None, "kind": "special", "layer": None}
    return pd.DataFrame({"task": [f"t{n}" for n in range(count)], **fixed, **columns})


def test_means_over_tasks_have_the_interval_of_independent_numbers() -> None:
    rng = np.random.default_rng(0)
    values, halves = np.array([0.3, 0.5, 0.4]), np.array([0.02, 0.1, 0.05])
    table = levels(kept=values, kept_low=values - halves, kept_high=values + halves)
    (row,) = kept(table).to_dict("records")
    drawn = (values + halves / 1.96 * rng.normal(size=(200_000, 3))).mean(axis=1)
    assert row["value"] == pytest.approx(0.4)
    ends = np.quantile(drawn, [0.025, 0.975])
    np.testing.assert_allclose((row["low"], row["high"]), ends, rtol=0, atol=5e-4)


def test_one_task_keeps_its_interval() -> None:
    table = levels(norm=[0.1], norm_low=[0.08], norm_high=[0.15], uniform=[0.2])
    (row,) = norm_over_uniform(table).to_dict("records")
    found = row["value"], row["low"], row["high"]
    np.testing.assert_allclose(found, (-0.1, -0.12, -0.05))


def test_a_difference_of_lengths_covers_any_dependence() -> None:
    parts = [
        levels(length=[value], length_low=[value - 0.1], length_high=[value + 0.2]).assign(
            kind=kind
        )
        for value, kind in ((0.9, "frequent word"), (1.2, "other word"))
    ]
    (row,) = length_of_frequent_words(pd.concat(parts)).to_dict("records")
    np.testing.assert_allclose(
        (row["value"], row["low"], row["high"]), (-0.3, -0.6, 0.0), atol=1e-9
    )
