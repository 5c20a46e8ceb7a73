"""Claims about syntax: their numbers, and tables that decide them each way."""

from __future__ import annotations

import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, YES, Frames, made, together

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES
from darksecrets.syntax.claims import over_offset, second_distractor

PAPERS = {paper.name: paper for paper in registry.read(registry.files())}
CLAIMS = {
    claim.id: claim
    for name in ("clark2019", "htut2019", "lin2019")
    for claim in PAPERS[name].claims
}
HEADS = "syntactic_heads"


def best(label: str, value: float) -> Frames:
    """The best head of a label, ± 0.05; beside others that do not count."""
    parts = []
    for state, selected, found in (
        ("pretrained", True, value),
        ("pretrained", False, -0.9),
        ("random", True, -0.9),
    ):
        fixed: dict[str, object] = {"state": state, "seed": None}
        fixed |= {"selected": selected, "label": label}
        parts.append(made(HEADS, "over_offset", {(): found}, each=(), half=0.05, **fixed))  # type: ignore[arg-type]
    return together(*parts)


def verdicts(*found: tuple[str, float, str]) -> Frames:
    """Best heads of labels: q-values and verdicts."""
    parts = []
    for label, q, verdict in found:
        fixed: dict[str, object] = {"state": "pretrained", "seed": None, "selected": True}
        fixed |= {"syntactic": verdict}
        parts.append(made(HEADS, "q_value", {label: q}, each=("label",), **fixed))  # type: ignore[arg-type]
    return together(*parts)


def tree(value: float) -> Frames:
    """The best head's tree, ± 0.05; beside other heads and random weights."""
    parts = []
    for state, selected, found in (
        ("pretrained", True, value),
        ("pretrained", False, 0.9),
        ("random", True, 0.9),
    ):
        fixed: dict[str, object] = {"state": state, "selected": selected, "seed": None}
        parts.append(
            made("attention_trees", "over_chain", {(): found}, each=(), half=0.05, **fixed)
        )  # type: ignore[arg-type]
    return together(*parts)


def nouns(**by_number: float) -> Frames:
    """What verbs give to their subjects over equal parts, ± 0.02; beside single layers."""
    counts = {"any": ("any", 0.4), "one": ("1", 0.5), "two": ("2", 0.25)}
    parts = []
    for name, value in by_number.items():
        count, uniform = counts[name]
        for state, layer, found in (
            ("pretrained", None, value),
            ("pretrained", 1, -0.5),
            ("random", None, -0.5),
        ):
            fixed: dict[str, object] = {"state": state, "seed": None, "uniform": uniform}
            fixed |= {"distractors": count, "layer": layer}
            parts.append(
                made("distractors", "over_uniform", {(): found}, each=(), half=0.02, **fixed)
            )  # type: ignore[arg-type]
    return together(*parts)


CASES: dict[str, dict[Answer, Frames]] = {
    "S1": {YES: best("all", 0.02), NO: best("all", 0.2), OPEN: best("all", 0.12)},
    "S2": {YES: best("det", 0.4), NO: best("det", -0.1), OPEN: best("det", 0.02)},
    "S3": {YES: best("obj", 0.4), NO: best("dobj", -0.1), OPEN: best("dobj", 0.02)},
    "S4": {
        YES: verdicts(
            ("all", 0.9, "no"), ("det", 0.9, "open"), ("dobj", 0.01, "yes"), ("nsubj", 0.9, "no")
        ),
        OPEN: verdicts(("all", 0.001, "yes"), ("det", 0.001, "open"), ("dobj", 0.2, "no")),
    },
    "T1": {YES: tree(0.02), NO: tree(0.2), OPEN: tree(0.12)},
    "T2": {
        YES: together(best("det", 0.4), best("nsubj", -0.1)),
        NO: together(best("all", 0.4), best("det", -0.2), best("nsubj", -0.2)),
        OPEN: together(best("det", 0.02), best("nsubj", -0.2)),
    },
    "D1": {YES: nouns(any=0.1), NO: nouns(any=-0.1), OPEN: nouns(any=0.01)},
    "D2": {
        YES: nouns(one=0.3, two=0.05),
        NO: nouns(one=0.1, two=0.2),
        OPEN: nouns(one=0.1, two=0.05),
    },
}


def changed(found: dict[object, float]) -> Frames:
    """Changes of labels on a task, ± 0.02 in every seed; that of all relations does not count."""
    everything = dict.fromkeys([("all", "RTE")], 0.9)
    return made("syntactic_changes", "change", {**everything, **found}, each=("label", "task"),
                half=0.02, state="finetuned")  # fmt: skip


CASES["T3"] = {
    YES: changed({("det", "RTE"): 0.05, ("det", "MRPC"): -0.03}),
    NO: changed({("det", "RTE"): 0.0, ("nsubj", "RTE"): -0.4}),
    OPEN: changed({("det", "RTE"): 0.0, ("nsubj", "RTE"): 0.1}),
}


METHODS, PROBES = "coreference_methods", "attention_probes"


def of_table(table: str, column: str, value: float, **where: object) -> Frames:
    """A row of the pre-trained model, ± 0.05; and one of random weights, which does not count."""
    parts = []
    for state, seed, found in (("pretrained", None, value), ("random", 1, -0.9)):
        fixed = where | {"state": state, "seed": seed}
        parts.append(made(table, column, {(): found}, each=(), half=0.05, **fixed))  # type: ignore[arg-type]
    return together(*parts)


def around(border: float, table: str, column: str, **where: object) -> dict[Answer, Frames]:
    """Tables that decide a number to be above a border, below it, and neither."""
    values = {YES: border + 0.1, NO: border - 0.1, OPEN: border + 0.02}
    return {answer: of_table(table, column, value, **where) for answer, value in values.items()}


CASES |= {
    "S5": around(0.1, METHODS, "gain", kind="all", method="head match"),
    "S6": around(-0.1, METHODS, "gain", kind="all", method="rules"),
    "S7": around(0, METHODS, "gain", kind="common noun", method="head match"),
    "S8": around(0, PROBES, "over_offset", probe="attention"),
    "S9": around(0, PROBES, "over_words", probe="attention and words"),
    "S10": around(0, PROBES, "over_random", probe="attention and words"),
}


def test_every_claim_has_its_cases() -> None:
    assert set(CASES) == set(CLAIMS)
    assert all({YES, OPEN} <= set(cases) for cases in CASES.values())
    proved_only = {name for name, cases in CASES.items() if NO not in cases}
    assert proved_only == {n for n, c in CLAIMS.items() if any(q.test for q in c.questions)}


@pytest.mark.parametrize(("name", "answer"), [(n, a) for n, cases in CASES.items() for a in cases])
def test_a_claim_is_decided(name: str, answer: Answer) -> None:
    paper = PAPERS[CLAIMS[name].paper]
    found = deciding.decide(CLAIMS[name], paper.tasks, Tables(CASES[name][answer], TABLES), RUN)
    assert found.answer == answer, found
    assert found.reason


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_a_claim_stays_open(name: str) -> None:
    paper = PAPERS[CLAIMS[name].paper]
    found = deciding.decide(CLAIMS[name], paper.tasks, Tables({}, TABLES), RUN)
    assert found.answer == OPEN
    assert "is not made by this run" in found.reason


def test_no_run_has_the_papers_data() -> None:
    assert not any({"GLUE", "FrameNet"} & set(claim.data) for claim in CLAIMS.values())
    assert all(claim.data for claim in CLAIMS.values())


def test_shares_are_compared_with_equal_parts() -> None:
    (row,) = (
        second_distractor(nouns(one=0.1, two=0.05)["distractors"])
        .query("state == 'pretrained'")
        .to_dict("records")
    )
    found = row["value"], row["low"], row["high"]
    assert found == pytest.approx((0.05 / 0.25 - 0.1 / 0.5, -0.08 - 0.04, 0.08 + 0.04))


def test_objects_have_one_name() -> None:
    both = pd.concat([best("obj", 0.1)[HEADS], best("det", 0.2)[HEADS]])
    assert over_offset(both).query("state == 'pretrained'")["label"].tolist() == ["dobj", "det"]
