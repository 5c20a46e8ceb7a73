"""Claims about attention and decisions: tables that decide each way, and their numbers."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, TASKS, YES, Frames, crossed, made, together

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES
from darksecrets.faithfulness.claims import (
    over_weights,
    separator_in_upper_layers,
    separator_over_random,
    separator_upper_over_lower,
)

PAPERS = {paper.name: paper for paper in registry.read(registry.files())}
WANTED = {"clarkheads2019": ["B5"], "jain2019": ["J1"], "serrano2019": ["E1", "E2"]}
CLAIMS = {
    claim.id: claim
    for name, wanted in WANTED.items()
    for claim in PAPERS[name].claims
    if claim.id in wanted
}


def gradients(lower: float, upper: float, random: float = 1.0) -> Frames:
    """Relative gradients by attention to [SEP] of four layers, ± 0.05."""
    parts = []
    for state, values in (("finetuned", (lower, upper)), ("random", (random, random))):
        for layer in range(1, 5):
            rows = crossed(TASKS, ["separator"], value=values[layer > 2])
            fixed = {"state": state, "layer": layer, "head": None, "half": 0.05}
            parts.append(
                made("attention_gradients", "relative", rows, each=("task", "kind"), **fixed)  # type: ignore[arg-type]
            )
    other = crossed(TASKS, ["word"], value=9.0)
    fixed = {"state": "finetuned", "layer": 4, "head": None}
    parts.append(made("attention_gradients", "relative", other, each=("task", "kind"), **fixed))  # type: ignore[arg-type]
    return together(*parts)


def tau(value: float) -> Frames:
    """Rank correlations of the whole encoder, ± 0.05, beside other rows."""
    parts = []
    for layer, compared, found in (
        (None, "weights and gradient", value),
        (None, "weights and norms", 0.9),
        (1, "weights and gradient", -0.9),
    ):
        rows = crossed(TASKS, [compared], value=found)
        fixed = {"state": "finetuned", "layer": layer, "head": None, "half": 0.05}
        parts.append(made("faithfulness", "tau", rows, each=("task", "compared"), **fixed))  # type: ignore[arg-type]
    return together(*parts)


def erased(column: str, importance: str, value: float) -> Frames:
    """Differences of erased tokens, ± 0.05, of one importance beside the others."""
    parts = []
    for name in ("weights", "norms", "gradient", "attention gradient"):
        rows = crossed(TASKS, [name], value=value if name == importance else 0.9 * -np.sign(value))
        fixed = {"state": "finetuned", "half": 0.05}
        parts.append(made("erasure", column, rows, each=("task", "importance"), **fixed))  # type: ignore[arg-type]
    return together(*parts)


CASES: dict[str, dict[Answer, Frames]] = {
    "B5": {YES: gradients(0.9, 0.4), NO: gradients(0.4, 0.9), OPEN: gradients(0.9, 0.4, 0.4)},
    "J1": {YES: tau(0.1), NO: tau(0.7), OPEN: tau(0.5)},
    "E1": {
        YES: erased("over_random", "weights", -0.2),
        NO: erased("over_random", "weights", 0.2),
        OPEN: erased("over_random", "weights", 0.001),
    },
    "E2": {
        YES: erased("over_weights", "attention gradient", -0.2),
        NO: erased("over_weights", "attention gradient", 0.2),
        OPEN: erased("over_weights", "attention gradient", 0.001),
    },
}


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_decided(name: str, answer: Answer) -> None:
    tables = Tables(CASES[name][answer], TABLES)
    found = deciding.decide(CLAIMS[name], [], tables, RUN)
    assert found.answer == answer, found
    assert found.reason


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_a_claim_stays_open(name: str) -> None:
    found = deciding.decide(CLAIMS[name], [], Tables({}, TABLES), RUN)
    assert found.answer == OPEN
    assert "is not made by this run" in found.reason


def test_the_cases_are_those_of_the_registry() -> None:
    assert set(CASES) == set(CLAIMS) == {name for wanted in WANTED.values() for name in wanted}
    for name in ("jain2019", "serrano2019", "wiegreffe2019"):
        answered = {claim.id for claim in PAPERS[name].claims if claim.questions}
        assert answered == set(WANTED.get(name, []))


def test_no_run_has_the_papers_models() -> None:
    """So the verdict on these papers is never more than not comparable."""
    assert not any(set(claim.data) <= set(RUN.shared) for claim in CLAIMS.values())


def layers(**states: list[tuple[float, float, float]]) -> pd.DataFrame:
    rows = [
        {"task": "a", "state": state, "seed": 1, "layer": layer, "relative": value}
        | {"relative_low": low, "relative_high": high, "kind": "separator", "head": None}
        for state, values in states.items()
        for layer, (value, low, high) in enumerate(values, start=1)
    ]
    return pd.DataFrame(rows).astype({"layer": "Int64"})


def test_halves_are_means_of_layers() -> None:
    table = layers(
        finetuned=[(1, 0.8, 1.1), (5, 5, 5), (0.5, 0.4, 0.8)],
        random=[(9, 9, 9), (5, 5, 5), (1, 0.9, 1.2)],
    )

    def of(found: pd.DataFrame) -> tuple[float, ...]:
        row = found[found["state"] == "finetuned"].iloc[0]
        return tuple(row[["value", "low", "high"]].astype(float))

    assert of(separator_in_upper_layers(table)) == pytest.approx((0.5, 0.4, 0.8))
    expected = -0.5, -0.5 - 0.1 - 0.1, -0.5 + 0.3 + 0.2
    assert of(separator_upper_over_lower(table)) == pytest.approx(expected)
    assert of(separator_over_random(table)) == pytest.approx((-0.5, -0.5 - 0.1 - 0.2, -0.1))


def test_one_layer_is_the_upper_half_and_has_no_lower_one() -> None:
    table = layers(finetuned=[(0.5, 0.4, 0.8)], random=[(1, 0.9, 1.2)])
    assert separator_in_upper_layers(table)["value"].tolist() == [0.5, 1]
    assert separator_upper_over_lower(table).empty


def test_tasks_are_independent() -> None:
    table = pd.DataFrame(
        {
            "task": ["a", "b"],
            "state": "finetuned",
            "seed": 1,
            "importance": "norms",
            "over_weights": [-0.2, 0.0],
            "over_weights_low": [-0.3, -0.1],
            "over_weights_high": [-0.1, 0.1],
        }
    )
    (row,) = over_weights(table).to_dict("records")
    reach = np.hypot(0.1, 0.1) / 2
    found = row["value"], row["low"], row["high"]
    assert found == pytest.approx((-0.1, -0.1 - reach, -0.1 + reach))
