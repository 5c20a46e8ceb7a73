"""Claims about important heads: their numbers, and tables that decide them each way."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, SEEDS, YES, Frames, whole

from darksecrets.ablation.joint_effects import tolerated_heads
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


def pruned(rte: int, mrpc: int, delta: float = 0.2, half: float = 0.5) -> Frames:
    """Of 36 heads, those chosen in one order and in another; the validation score changes alike.

    What the validation set itself tolerates is the opposite, and decides nothing.
    """
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "order": order}
        | {"tolerance": 1.0, "chosen_on": 100, "removed": removed, "share": removed / 36}
        | {"delta": change, "ci_low": change - half, "ci_high": change + half}
        for task, number in (("RTE", rte), ("MRPC", mrpc))
        for metric in ON[task]
        for seed in SEEDS
        for order, less, change in (("absolute gradient", 0, delta), ("greedy", 9, -8.0))
        for removed in (max(0, number - less - (30 if metric == "f1" else 0)),)
    ]
    smaller = pd.DataFrame(rows)
    tolerated = 36 - smaller["removed"]
    ends = {"ci_low": tolerated - 2, "ci_high": tolerated + 2}
    by_validation = smaller.assign(heads=36, tolerated=tolerated, **ends)
    return whole({"smaller_models": smaller, "pruned_heads": by_validation})


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
    "P1": {YES: pruned(20, 24), NO: pruned(20, 8), OPEN: pruned(20, 24, -0.8)},
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
    found = removable_shares(pruned(18, 9)["smaller_models"])
    mine = found[found["order"] == "absolute gradient"].set_index(["on", "seed"])
    ends = ["value", "low", "high"]
    assert mine.loc[("RTE", 1), ends].tolist() == [0.5] * 3
    assert mine.loc[("MRPC", 1), ends].tolist() == [0.25] * 3
    assert len(mine) == 2 * len(SEEDS)


@pytest.mark.parametrize(
    ("delta", "half", "expected"),
    [
        (-0.9, 0.05, (0.5, 0.5, 0.5)),
        (-0.9, 0.3, (0.5, 0, 0.5)),
        (-1.1, 0.3, (0, 0, 0.5)),
        (-6.0, 3.0, (0, 0, 0)),
        (-1.0, 0.0, (0.5, 0.5, 0.5)),
    ],
)
def test_a_share_counts_if_the_validation_score_bears_it_out(
    delta: float, half: float, expected: tuple[float, ...]
) -> None:
    found = removable_shares(pruned(18, 18, delta, half)["smaller_models"])
    mine = found[found["order"] == "absolute gradient"]
    assert (mine[["value", "low", "high"]] == expected).all(axis=None)


def test_heads_that_no_training_examples_choose_decide_nothing() -> None:
    """All training examples made the orders: then no head is removed, which says nothing."""
    frames = pruned(0, 0)
    frames["smaller_models"]["chosen_on"] = 0
    found = deciding.decide(CLAIMS["P1"], [], Tables(frames, TABLES), RUN)
    assert found.answer == OPEN


def test_many_heads_that_only_training_examples_tolerate_refute_the_claim() -> None:
    """They were learned by heart: 30 of 36 are tolerated there, and cost 6 points elsewhere."""
    tables = Tables(pruned(30, 30, -6.0), TABLES)
    assert deciding.decide(CLAIMS["P1"], [], tables, RUN).answer == NO


def shown_removable(cost: float, noise: float, trials: int = 400) -> tuple[float, float]:
    """How often more than 2 of 36 heads are shown to be removable, and seem so on validation.

    Args:
        cost: Points that each head costs; one point is tolerated.
        noise: Standard deviation of the points of training examples, and of validation examples.
        trials: Number of trials.
    """
    rng, counts = np.random.default_rng(7), list(range(1, 37))
    rows = []
    for trial in range(trials):
        deltas = rng.normal(0, noise, (2, 1)) - cost * np.array(counts)  # chosen on, scored on
        chosen, seeming = tolerated_heads(deltas, counts, 1.0)
        delta, half = (deltas[1, chosen - 1], 1.96 * noise) if chosen else (0.0, 0.0)
        rows.append(
            {"task": "RTE", "state": "finetuned", "seed": trial, "metric": "accuracy"}
            | {"order": "absolute gradient", "tolerance": 1.0, "chosen_on": 9}
            | {"share": chosen / 36, "delta": delta, "seeming": seeming / 36}
            | {"ci_low": delta - half, "ci_high": delta + half}
        )
    found, few = removable_shares(pd.DataFrame(rows)), 2.5 / 36
    return float((found["low"] > few).mean()), float((found["seeming"] > few).mean())


def test_luck_of_the_examples_does_not_make_heads_removable() -> None:
    """If 2 of 36 are, validation examples often seem to tolerate more; if all are, it is found."""
    held, seeming = shown_removable(cost=0.5, noise=2)
    assert held <= 0.025
    assert seeming > 0.3
    assert shown_removable(cost=0.01, noise=0.2)[0] > 0.8


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
