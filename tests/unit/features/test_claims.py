"""Claims of Clark et al. (2019) about types of heads and layers: tables that decide each way."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, TASKS, YES, Frames, crossed, made, together

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES
from darksecrets.features.claims import (
    broad_in_lower_layers,
    same_layer,
    same_layer_over_random,
    types_over_random,
)

(PAPER,) = (paper for paper in registry.read(registry.files()) if paper.name == "clarkheads2019")
CLAIMS = {claim.id: claim for claim in PAPER.claims if claim.id in ("B1", "B2", "B3", "B4")}


def near(value: float, random: float = 0.0, p: float = 0.001, last: float | None = None) -> Frames:
    """Differences of the pre-trained and the random encoder, ± 0.01, and p-values."""
    parts = []
    for state, difference in (("pretrained", value), ("random", random), ("finetuned", 9.0)):
        values = crossed(TASKS, ["same layer"], value=difference)
        fixed = {"state": state, "p_value": p if state == "pretrained" else 1.0}
        parts.append(
            made("redundancy", "difference", values, each=("task", "pairs"), half=0.01, **fixed)  # type: ignore[arg-type]
        )
    found = together(*parts)
    table = found["redundancy"]
    if last is not None:
        is_last = (table["task"] == TASKS[-1]) & (table["state"] == "pretrained")
        table.loc[is_last, "p_value"] = last
    return found


def counted(
    kinds: tuple[str, ...], value: float, random: float = 0, layers: tuple[float, ...] = ()
) -> Frames:
    """Numbers of heads of the whole encoder, or of its layers, ± 1, of every task."""
    parts = []
    for state, number in (("pretrained", value), ("random", random), ("finetuned", 99)):
        rows: dict[int | None, float] = {None: number}
        if layers:
            rows |= dict(enumerate(layers, start=1))
        for layer, heads in rows.items():
            values = crossed(TASKS, kinds, value=heads)
            fixed = {"state": state, "layer": layer}
            parts.append(
                made("head_type_counts", "heads", values, each=("task", "type"), half=1, **fixed)  # type: ignore[arg-type]
            )
    return together(*parts)


BESIDE, BROAD = ("next", "previous"), ("broad for its length",)
CASES: dict[str, dict[Answer, Frames]] = {
    "B1": {
        YES: near(-0.1),
        NO: near(0.1),
        OPEN: near(-0.1, p=0.2),
    },
    "B2": {
        YES: counted(BESIDE, 6, 1),
        NO: together(counted(("next",), 6, 1), counted(("previous",), 1, 6)),
        OPEN: counted(BESIDE, 6, 6),
    },
    "B3": {
        YES: counted(("[SEP]",), 9, 0),
        NO: counted(("[SEP]",), 0, 9),
        OPEN: counted(("[SEP]",), 1, 1),
    },
    "B4": {
        YES: counted(BROAD, 9, 0, (9, 8, 1, 1)),
        NO: counted(BROAD, 9, 0, (1, 1, 8, 9)),
        OPEN: counted(BROAD, 9, 0, (4, 4, 4, 4)),
    },
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


@pytest.mark.parametrize(
    "frames",
    [near(-0.1, random=-0.1), near(-0.1, last=0.2)],
    ids=["random weights do the same", "not in every task"],
)
def test_layers_are_alike_only_beyond_the_controls(frames: Frames) -> None:
    found = deciding.decide(CLAIMS["B1"], PAPER.tasks, Tables(frames, TABLES), RUN)
    assert found.answer == OPEN


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_a_claim_stays_open(name: str) -> None:
    found = deciding.decide(CLAIMS[name], PAPER.tasks, Tables({}, TABLES), RUN)
    assert found.answer == OPEN
    assert "is not made by this run" in found.reason


def test_no_run_has_the_papers_data() -> None:
    assert all(claim.data == ("Wikipedia",) for claim in PAPER.claims)


def test_differences_from_random_weights_cover_any_dependence() -> None:
    rows = [
        ("a", "pretrained", None, -0.2, -0.3, -0.15),
        ("a", "random", 1, -0.05, -0.06, -0.02),
        ("b", "pretrained", None, -0.1, -0.2, 0.0),
        ("b", "random", 1, 0.0, -0.1, 0.1),
    ]
    names = ["task", "state", "seed", "difference", "difference_low", "difference_high"]
    table = pd.DataFrame(rows, columns=names).assign(pairs="same layer")
    (row,) = same_layer_over_random(table).to_dict("records")
    assert row["value"] == pytest.approx((-0.15 - 0.1) / 2)
    below = np.hypot(0.1 + 0.03, 0.1 + 0.1) / 2
    above = np.hypot(0.05 + 0.01, 0.1 + 0.1) / 2
    assert (row["low"], row["high"]) == pytest.approx((row["value"] - below, row["value"] + above))
    alone = same_layer(table[table["task"] == "a"]).set_index("state")
    assert tuple(alone.loc["pretrained", ["value", "low", "high"]]) == (-0.2, -0.3, -0.15)


def test_heads_of_a_type_are_counted_beyond_random_weights() -> None:
    rows = [
        ("a", "pretrained", None, None, "next", 5, 4, 6),
        ("a", "pretrained", None, 1, "next", 50, 40, 60),
        ("a", "random", 1, None, "next", 1, 0, 1),
    ]
    names = ["task", "state", "seed", "layer", "type", "heads", "ci_low", "ci_high"]
    (row,) = types_over_random(pd.DataFrame(rows, columns=names)).to_dict("records")
    assert (row["type"], row["value"], row["low"], row["high"]) == ("next", 4, 3, 6)


@pytest.mark.parametrize(("heads", "expected"), [((3, 1), 2), ((3, 9, 1), 2), ((4, 3, 2, 1), 4)])
def test_halves_of_the_layers_leave_out_a_middle_one(heads, expected) -> None:
    table = pd.DataFrame({"layer": range(1, len(heads) + 1), "heads": heads})
    table = table.assign(
        task="a", state="pretrained", seed=None, type="broad for its length"
    ).assign(ci_low=table["heads"] - 1, ci_high=table["heads"] + 1)
    (row,) = broad_in_lower_layers(table).to_dict("records")
    layers = 2 * (len(heads) // 2)
    found = row["value"], row["low"], row["high"]
    assert found == (expected, expected - layers, expected + layers)


def test_one_layer_has_no_halves() -> None:
    row = {"task": "a", "state": "pretrained", "seed": None, "layer": 1, "heads": 3}
    table = pd.DataFrame([row]).assign(type="broad for its length", ci_low=1, ci_high=4)
    assert broad_in_lower_layers(table).empty
