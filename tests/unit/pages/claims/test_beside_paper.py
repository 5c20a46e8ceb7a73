"""Numbers that the paper prints, beside those of a run."""

from dataclasses import replace

import pandas as pd
import pytest
from claim_tables import METRICS, RUN, TASKS, made, together

from darksecrets.pages.claims import beside_paper
from darksecrets.pages.claims.sources import Tables
from darksecrets.pages.claims.tables import BESIDE_PAPER
from darksecrets.pages.contracts import TABLES

PRINTED = beside_paper.read(beside_paper.NUMBERS, beside_paper.TABLE1)
TUNED = {"state": "finetuned"}


def frames() -> dict[str, pd.DataFrame]:
    """Made-up tables: the least share is that of RTE, and the first layer helps on QNLI."""
    shares = dict.fromkeys(TASKS, 0.5) | {"MRPC": 0.4, "RTE": 0.3, "QQP": 0.7}
    gains = dict.fromkeys(TASKS, 1.0) | {"STS-B": 0.2, "MRPC": 2.0}
    layer = {(task, 1): -1.0 for task in TASKS} | {("RTE", 1): 0.1, ("QNLI", 1): 2.0}
    scores = {(task, metric): 80.0 for task, names in METRICS.items() for metric in names}
    heterogeneous = {"definition": "strict", "pattern": "heterogeneous", "half": 0.02}
    return together(
        made("patterns", "share", shares, **heterogeneous, **TUNED),
        made("survival", "naive_gain", gains, kind="head", **TUNED),
        made("layer_ablation", "delta", layer, each=("task", "layer"), **TUNED),
        made("score_means", "score", scores, each=("task", "metric"), model="finetuned"),
    )


def compared(tables: dict[str, pd.DataFrame], **changes: object) -> pd.DataFrame:
    found = beside_paper.compare(PRINTED, Tables(tables, TABLES), replace(RUN, **changes))
    BESIDE_PAPER.check(found, "table", "")
    return found.set_index(["quantity", "task"])


def row(found: pd.DataFrame, start: str, task: str, metric: str | None = None) -> pd.Series:
    quantity = next(name for name, _ in found.index if name.startswith(start))
    rows = found.loc[[(quantity, task)]]
    return (rows if metric is None else rows[rows["metric"] == metric]).iloc[0]


def test_numbers_and_places_are_those_of_the_tables():
    found = compared(frames())
    share = row(found, "share of heterogeneous", "MRPC")
    assert (share["paper"], share["value"]) == (0.32, pytest.approx(0.4))
    assert (share["place"], share["place_in_run"]) == ("least", "2 of 7")
    assert row(found, "share of heterogeneous", "QQP")["place_in_run"] == "1 of 7"
    assert row(found, "gain of the best head", "STS-B")["place_in_run"] == "1 of 7"
    score = row(found, "score of the fine-tuned", "MRPC", "f1")
    assert (score["paper"], score["value"], score["ci_low"] < 80) == (87.9, 80.0, True)
    assert set(found["comparable"][found["value"].notna()]) == {"yes"}
    assert len(found) == 2 + 2 + 3 + 27


def test_signs_are_compared_where_numbers_are_differences():
    found = compared(frames())
    assert row(found, "effect of disabling", "RTE")["same_sign"] == "open"
    assert row(found, "effect of disabling", "QNLI")["same_sign"] == "no"
    assert row(found, "effect of disabling", "MNLI")["same_sign"] == "yes"
    assert pd.isna(row(found, "score of the fine-tuned", "RTE")["same_sign"])


def test_it_is_said_why_numbers_cannot_be_compared():
    other = compared(frames(), shared=[])
    assert set(other["comparable"][other["value"].notna()]) == {"another model or other data"}
    few = compared(frames(), tasks={"RTE": ["accuracy"]}, seeds={"RTE": [1, 2, 3]})
    assert row(few, "share of heterogeneous", "QQP")["comparable"] == "not in this run"
    bad = {"task": "RTE", "seed": None, "metric": "accuracy", "score": 51.5, "majority": 50.2}
    learned = pd.DataFrame([bad | {"bag_of_words": 53.8, "learned": False}])
    found = compared(frames() | {"learned": learned})
    first = row(found, "effect of disabling", "RTE")
    assert first["comparable"].startswith("RTE is not learned")
    assert first["value"] == pytest.approx(0.1), "shown all the same"
    lost = {name: frame for name, frame in frames().items() if name != "patterns"}
    missing = row(compared(lost), "share of heterogeneous", "MRPC")
    assert missing["comparable"] == "patterns.csv is not made by this run"
