"""Claims about important heads: their numbers, and tables that decide them each way."""

import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, SEEDS, YES, Frames, whole

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES
from darksecrets.importance.claims import (
    few_heads_by_gates,
    layers_with_one_head,
    of_structure,
    removable_shares,
)

NAMES = ("michel2019", "voita2019", "prasanna2020")
PAPERS = [paper for paper in registry.read(registry.files()) if paper.name in NAMES]
CLAIMS = {
    claim.id: claim
    for paper in PAPERS
    for claim in paper.claims
    if not any("subnetworks" in question.table for question in claim.questions)
}
ON = {"RTE": ("accuracy",), "MRPC": ("f1", "accuracy")}


def pruned(rte: int, mrpc: int, half: int = 2) -> Frames:
    """Numbers of 36 heads that are tolerated, in one order and, less, in another."""
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "order": order}
        | {"heads": 36, "tolerance": 1.0, "tolerated": max(0, number - less - far)}
        | {"ci_low": number - less - far - half, "ci_high": number - less - far + half}
        for task, number in (("RTE", rte), ("MRPC", mrpc))
        for metric in ON[task]
        for seed in SEEDS
        for order, less in (("absolute gradient", 0), ("greedy", 9))
        for far in (30 if metric == "f1" else 0,)
    ]
    return whole({"pruned_heads": pd.DataFrame(rows)})


def needs(fine: int, sure: int, bad: int) -> Frames:
    """Of ten layers, how many may keep one head, for how many this is sure, or refuted."""
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "layer": layer}
        | {"kept": kept, "tolerance": 1.0, "tolerated": layer <= fine, "noninferior": layer <= sure}
        | {"ci_low": -0.5 if layer <= sure else -2.0, "ci_high": -1.5 if layer > 10 - bad else 0.5}
        for task in ON
        for metric in ON[task]
        for seed in SEEDS
        for layer in range(1, 11)
        for kept in (1, 2)
    ]
    return whole({"layer_needs": pd.DataFrame(rows)})


def structure(rte: float, mrpc: float, half: float) -> Frames:
    """Correlations of importance with the share of heterogeneous maps, and with others."""
    rows = [
        {"task": task, "definition": definition, "measured": "finetuned", "spearman": value}
        | {
            "measure": f"pattern_heads.share.{kind}",
            "ci_low": value - half,
            "ci_high": value + half,
        }
        for task, value in (("RTE", rte), ("MRPC", mrpc))
        for definition in ("absolute gradient", "exact")
        for kind in ("heterogeneous", "block")
    ]
    return whole({"important_heads": pd.DataFrame(rows)})


def gates(rte: float, mrpc: float, half: float = 0.5) -> Frames:
    """Differences at a penalty that leaves a quarter of the heads; others are far off."""
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "penalty": penalty}
        | {"chosen_by": chosen_by, "weights": weights, "share": share, "delta": delta + more}
        | {"ci_low": delta + more - half, "ci_high": delta + more + half}
        for task, delta in (("RTE", rte), ("MRPC", mrpc))
        for metric in ON[task]
        for seed in SEEDS
        for penalty, share, over in ((0.01, 0.5, 3), (0.03, 0.25, 0), (0.1, 0.1, -20))
        for chosen_by, worse in (("learned", 0), ("random", -30))
        for weights, last in (("trained on", 0), ("fine-tuned", -40))
        for more in (over + worse + last - 9 * (metric == "f1"),)
    ]
    return whole({"learned_gates": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "P1": {YES: pruned(20, 24), NO: pruned(20, 8), OPEN: pruned(15, 24)},
    "V1": {
        YES: structure(-0.5, -0.6, 0.2),
        NO: structure(-0.5, 0.7, 0.2),
        OPEN: structure(-0.5, -0.1, 0.2),
    },
    "L1": {
        YES: structure(0.05, -0.05, 0.1),
        NO: structure(0.05, -0.7, 0.2),
        OPEN: structure(0.05, -0.2, 0.2),
    },
    "V2": {YES: gates(-0.2, 0.5), NO: gates(-0.2, -4), OPEN: gates(-0.2, -0.8)},
    "P2": {YES: needs(8, 7, 1), NO: needs(2, 1, 7), OPEN: needs(7, 2, 1)},
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


def test_shares_are_of_accuracy_where_there_is_one() -> None:
    found = removable_shares(pruned(18, 9)["pruned_heads"])
    mine = found[found["order"] == "absolute gradient"].set_index(["on", "seed"])
    assert mine.loc[("RTE", 1), "value"] == pytest.approx(0.5)
    assert mine.loc[("MRPC", 1), ["value", "low", "high"]].tolist() == pytest.approx(
        [9 / 36, 7 / 36, 11 / 36]
    )
    assert len(mine) == 2 * len(SEEDS)


def test_layers_are_counted_with_one_head_left() -> None:
    found = layers_with_one_head(needs(7, 5, 2)["layer_needs"])
    assert len(found) == 2 * len(SEEDS)
    assert found[["value", "low", "high"]].to_numpy().tolist() == [[0.7, 0.5, 0.8]] * len(found)


def test_the_penalty_that_leaves_few_heads_is_not_chosen_by_its_score() -> None:
    found = few_heads_by_gates(gates(-2, 1)["learned_gates"])
    assert len(found) == 2 * len(SEEDS)
    assert found.groupby("on")["value"].first().to_dict() == {"RTE": -2, "MRPC": 1}


def test_structure_is_the_opposite_of_heterogeneous() -> None:
    found = of_structure(structure(0.3, -0.2, 0.1)["important_heads"])
    rte = found[(found["on"] == "RTE") & (found["definition"] == "exact")]
    assert rte[["value", "low", "high"]].to_numpy().tolist() == [pytest.approx([-0.3, -0.4, -0.2])]
