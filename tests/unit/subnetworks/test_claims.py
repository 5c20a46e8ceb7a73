"""Claims about subnetworks: their numbers, and tables that decide them each way."""

import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, SEEDS, YES, Frames, whole

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES
from darksecrets.subnetworks.claims import agreement_of_heads, behind_good, over_random

CLAIMS = {
    claim.id: claim
    for paper in registry.read(registry.files())
    if paper.name == "prasanna2020"
    for claim in paper.claims
    if any("subnetworks" in question.table for question in claim.questions)
}
ON = {"RTE": ("accuracy",), "MRPC": ("f1", "accuracy")}


def scores(
    good: float, bad: float, half: float, *, again: float = -10, same: bool = True
) -> Frames:
    """Differences to random subnetworks in points; and of bad ones that are trained again."""
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "subnetwork": kind}
        | {"trained": trained, "same_size": same or kind != "bad", "over_random": over}
        | {"over_random_low": over - half, "over_random_high": over + half}
        | {"delta": delta, "ci_low": delta - 2, "ci_high": delta + 2}
        for task in ON
        for metric in ON[task]
        for seed in SEEDS
        for kind, value, later in (("good", good, -3), ("bad", bad, again), ("random", 99, -5))
        for over in (99 if metric == "f1" else value,)
        for trained, delta in (("as it is", -20), ("re-trained", later))
    ]
    return whole({"subnetwork_scores": pd.DataFrame(rows)})


def kappa(rte: float, mrpc: float, half: float) -> Frames:
    """Of two tasks, whose MLPs agree perfectly."""
    rows = [
        {"task": task, "part": part, "seeds": 3, "kappa": value}
        | {"ci_low": value - half, "ci_high": value + half}
        for task, of_heads in (("RTE", rte), ("MRPC", mrpc))
        for part, value in (("head", of_heads), ("MLP", 1.0))
    ]
    return whole({"subnetwork_agreement": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "L2": {YES: scores(20, -10, 5), NO: scores(-20, -10, 5), OPEN: scores(20, -3, 9)},
    "L3": {
        YES: scores(20, -10, 5, again=-7),
        NO: scores(20, -10, 5, again=-40),
        OPEN: scores(20, -10, 5, again=-17),
    },
    "L4": {YES: kappa(0.2, 0.1, 0.1), NO: kappa(0.2, 0.8, 0.1), OPEN: kappa(0.2, 0.35, 0.1)},
}


def test_every_claim_has_its_cases() -> None:
    assert set(CASES) == set(CLAIMS)
    assert all(set(cases) == {YES, NO, OPEN} for cases in CASES.values())


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_decided(name: str, answer: Answer) -> None:
    tables = Tables(CASES[name][answer], TABLES)
    found = deciding.decide(CLAIMS[name], [], tables, RUN)
    assert found.answer == answer, found
    assert found.reason


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_a_claim_stays_open(name: str) -> None:
    assert deciding.decide(CLAIMS[name], [], Tables({}, TABLES), RUN).answer == OPEN


@pytest.mark.parametrize(
    ("name", "frames"),
    [
        ("L2", scores(20, -10, 5, same=False)),
        ("L3", scores(20, -10, 5, same=False)),
        ("L4", kappa(float("nan"), float("nan"), 0.1)),
    ],
)
def test_a_rest_that_is_too_small_and_a_single_seed_decide_nothing(name, frames: Frames) -> None:
    assert deciding.decide(CLAIMS[name], [], Tables(frames, TABLES), RUN).answer == OPEN


def test_numbers_are_of_accuracy_and_of_equal_size() -> None:
    frame = scores(20, -10, 5)["subnetwork_scores"]
    found = over_random(frame)
    assert set(found["on"]) == {"RTE", "MRPC"}
    assert set(found.loc[found["subnetwork"] == "good", "value"]) == {20}
    assert set(found["subnetwork"]) == {"good", "bad"}
    behind = behind_good(frame)
    assert len(behind) == 2 * len(SEEDS)
    assert behind[["value", "low", "high"]].iloc[0].tolist() == [7, 3, 11]
    one = agreement_of_heads(kappa(0.3, float("nan"), 0.1)["subnetwork_agreement"])
    assert one[["on", "value"]].to_numpy().tolist() == [["RTE", 0.3]]
