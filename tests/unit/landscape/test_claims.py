"""Claims about restored layers: their numbers, and tables that decide them each way."""

import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, SEEDS, YES, Frames, whole

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES
from darksecrets.landscape.claims import thirds, upper_over_lower

(PAPER,) = (paper for paper in registry.read(registry.files()) if paper.name == "hao2019")
CLAIMS = {claim.id: claim for claim in PAPER.claims if claim.questions}
ON = {"RTE": ("accuracy",), "MRPC": ("f1", "accuracy")}


def restored(lower: float, upper: float, mrpc: float | None = None, half: float = 0.5) -> Frames:
    """Effects of thirds of six layers; of MRPC's accuracy, another one of the claimed third."""
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "kind": kind}
        | {"direction": direction, "first_layer": first, "last_layer": first + 1, "delta": value}
        | {"ci_low": value - half, "ci_high": value + half}
        for task in ON
        for metric in ON[task]
        for seed in SEEDS
        for direction, kind, more in (
            ("restored", "third", 0),
            ("transferred", "third", 50),
            ("restored", "layer", -50),
        )
        for first, effect in ((5, upper), (1, lower), (3, -3.0))
        for value in (
            (-99.0 if metric == "f1" else mrpc if mrpc is not None and task == "MRPC" else effect)
            + more,
        )
    ]
    return whole({"restored_layers": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "R1": {YES: restored(-0.2, -9), NO: restored(-0.2, -9, -8), OPEN: restored(-0.2, -9, -1.2)},
    "R2": {YES: restored(0, -9), NO: restored(0, -9, 3), OPEN: restored(0, -9, -1.2)},
    "R3": {YES: restored(0, -9), NO: restored(-9, 0), OPEN: restored(-4, -4.4)},
}


def test_every_claim_has_its_cases() -> None:
    assert set(CASES) == set(CLAIMS)
    assert all(set(cases) == {YES, NO, OPEN} for cases in CASES.values())


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_decided(name: str, answer: Answer) -> None:
    found = deciding.decide(CLAIMS[name], [], Tables(CASES[name][answer], TABLES), RUN)
    assert found.answer == answer, found
    assert found.reason


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_a_claim_stays_open(name: str) -> None:
    assert deciding.decide(CLAIMS[name], [], Tables({}, TABLES), RUN).answer == OPEN


def test_thirds_are_named_by_their_place_and_scored_by_accuracy() -> None:
    found = thirds(restored(-0.5, -7)["restored_layers"])
    assert len(found) == 2 * len(SEEDS) * 3
    mine = found[(found["on"] == "MRPC") & (found["seed"] == 1)].set_index("third")["value"]
    assert mine.to_dict() == {"lower": -0.5, "middle": -3.0, "upper": -7.0}


def test_differences_of_thirds_add_half_widths() -> None:
    found = upper_over_lower(restored(-1, -7, half=0.5)["restored_layers"])
    assert len(found) == 2 * len(SEEDS)
    assert found[["value", "low", "high"]].to_numpy().tolist() == [[-6, -7, -5]] * len(found)
