"""Numbers that claims about patterns need, beside scikit-learn's and formulas by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from darksecrets.patterns.claims import agreement_of_tasks, shares_of_labels
from darksecrets.patterns.classes import PATTERNS


def test_shares_of_labels_with_wilsons_interval():
    labels = ["vertical"] * 30 + ["block"] * 70
    rows = {
        "classifier": "hand-made features",
        "left_out": "example",
        "repetition": 1,
        "reading": "strict",
    }
    predictions = pd.DataFrame({"label": labels} | rows)
    others = [
        {"classifier": "majority class"},
        {"left_out": "model"},
        {"repetition": 2},
        {"reading": "wide"},
    ]
    # other rows of the table, in which every map is a block, do not count
    tables = [predictions, *(predictions.assign(label="block", **other) for other in others)]
    found = shares_of_labels(pd.concat(tables)).set_index("label")
    centre, half = (
        (0.3 + 1.96**2 / 200) / (1 + 1.96**2 / 100),
        math.sqrt(0.3 * 0.7 / 100 + 1.96**2 / 40000) * 1.96 / (1 + 1.96**2 / 100),
    )
    expected = [30, 100 * (centre - half), 100 * (centre + half)]
    assert found.loc["vertical"].to_list() == pytest.approx(expected, abs=0.01)


def heads_of(patterns: dict[str, np.ndarray], state: str = "finetuned") -> pd.DataFrame:
    """Heads whose maps are all of one pattern."""
    rows = [
        (task, state, 1, 1, head + 1, pattern, float(number == own))
        for task, owns in patterns.items()
        for head, own in enumerate(owns)
        for number, pattern in enumerate(PATTERNS)
    ]
    names = ["task", "state", "seed", "layer", "head", "pattern", "share"]
    return pd.DataFrame(rows, columns=names)


def test_agreement_of_tasks_is_the_mean_kappa():
    rng = np.random.default_rng(5)
    first = rng.integers(5, size=60)
    patterns = {
        task: np.where(rng.random(60) < same, first, rng.integers(5, size=60))
        for task, same in (("MRPC", 1), ("RTE", 0.7), ("QQP", 0.4))
    }
    (found,) = agreement_of_tasks(heads_of(patterns)).to_dict("records")
    pairs = itertools.combinations(patterns.values(), 2)
    assert found["value"] == pytest.approx(np.mean([cohen_kappa_score(a, b) for a, b in pairs]))
    assert found["low"] < found["value"] < found["high"]


def test_heads_that_agree_by_chance_have_no_agreement():
    rng = np.random.default_rng(6)
    patterns = {task: rng.integers(5, size=144) for task in ("MRPC", "RTE", "QQP", "QNLI")}
    (found,) = agreement_of_tasks(heads_of(patterns)).to_dict("records")
    assert found["low"] < 0.05
    assert abs(found["value"]) < 0.15


def test_one_task_agrees_with_none():
    assert agreement_of_tasks(heads_of({"RTE": np.zeros(4, int)})).empty
