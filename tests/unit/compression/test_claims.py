"""Claims about compressed models: tables that decide them each way."""

import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, SEEDS, YES, Frames, whole

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES

(PAPER,) = (paper for paper in registry.read(registry.files()) if paper.name == "rogers2020")
CLAIMS = {claim.id: claim for claim in PAPER.claims}
ON = {"RTE": ("accuracy",), "MRPC": ("f1", "accuracy")}


def compressed(
    method: str, rte: float, mrpc: float, half: float, value: str, smaller: float = 3.9
) -> Frames:
    """What models of two tasks retain, ± half, and how much smaller they are."""
    ends = {"delta": ("ci_low", "ci_high")}.get(value, (f"{value}_low", f"{value}_high"))
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "method": method}
        | {"amount": amount if method != "8 bits" else 0, "smaller": smaller, value: number - far}
        | {ends[0]: number - far - half, ends[1]: number - far + half}
        for task, number in (("RTE", rte), ("MRPC", mrpc))
        for metric in ON[task]
        for seed in SEEDS
        for amount, far in ((0.4, 30 if metric == "accuracy" and task == "MRPC" else 0), (0.7, 50))
        if method != "8 bits" or amount == 0.4
    ]
    return whole({"compression": pd.DataFrame(rows)})


def eight(rte: float, mrpc: float, half: float, smaller: float = 3.9) -> Frames:
    return compressed("8 bits", rte, mrpc, half, "retention", smaller)


def zeros(rte: float, mrpc: float, half: float) -> Frames:
    return compressed("weights set to 0", rte, mrpc, half, "delta")


CASES: dict[str, dict[Answer, Frames]] = {
    "X1": {YES: eight(99.8, 100, 0.3), NO: eight(99.8, 97, 0.3), OPEN: eight(99.8, 99.1, 0.3)},
    "X2": {YES: zeros(0, -0.2, 0.4), NO: zeros(0, -4, 0.4), OPEN: zeros(0, -1.1, 0.4)},
}


def test_every_claim_has_its_cases() -> None:
    assert set(CASES) == set(CLAIMS)


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_decided(name: str, answer: Answer) -> None:
    found = deciding.decide(CLAIMS[name], [], Tables(CASES[name][answer], TABLES), RUN)
    assert found.answer == answer, found


def test_weights_that_are_not_smaller_refute_the_claim() -> None:
    tables = Tables(eight(99.8, 100, 0.3, smaller=2.0), TABLES)
    assert deciding.decide(CLAIMS["X1"], [], tables, RUN).answer == NO


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_a_claim_stays_open(name: str) -> None:
    assert deciding.decide(CLAIMS[name], [], Tables({}, TABLES), RUN).answer == OPEN
