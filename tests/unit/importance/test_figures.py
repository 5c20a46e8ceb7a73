"""What the figures of this section draw, beside the tables they are drawn from."""

import itertools

import numpy as np
import pandas as pd
import pytest
from drawn import draw_with

from darksecrets.importance import importance_agreement, learned_gates
from darksecrets.run.errors import InputError

METRICS = {"QNLI": "accuracy", "STS-B": "pearson"}
KEPT = {0.01: 24, 0.1: 6}
WEIGHTS, CHOSEN_BY = ("trained on", "fine-tuned"), ("random", "absolute gradient", "learned")


@pytest.fixture
def gates() -> pd.DataFrame:
    rng, rows = np.random.default_rng(1), []
    for task, seed, penalty, weights, name in itertools.product(
        METRICS, (1, 2), KEPT, WEIGHTS, CHOSEN_BY
    ):
        score, baseline = rng.uniform(50, 80), 85.0
        rows.append(
            {"task": task, "state": "finetuned", "seed": seed, "metric": METRICS[task]}
            | {"penalty": penalty, "chosen_by": name, "weights": weights, "kept": KEPT[penalty]}
            | {"share": KEPT[penalty] / 36, "baseline": baseline, "score": score, "chance": 50.0}
            | {"ci_low": score - baseline - 2, "ci_high": score - baseline + 2}
        )
    return pd.DataFrame(rows)


def test_scores_are_drawn_over_the_share_of_heads_that_is_kept(gates: pd.DataFrame) -> None:
    figure = draw_with(learned_gates.draw, list(METRICS), table=gates)
    for task, axes in zip(METRICS, figure.axes, strict=True):
        means = gates[gates["task"] == task].groupby(["weights", "chosen_by", "kept"])["score"]
        drawn = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) == len(KEPT)]
        expected = means.mean().unstack("kept")
        for place in itertools.product(WEIGHTS, CHOSEN_BY):
            assert any(np.allclose(line, expected.loc[place]) for line in drawn), place
        words = [text.get_text() for text in axes.texts]
        assert words == ["λ 0.01", "λ 0.1"]


def test_a_task_without_gates_is_named(gates: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="RTE"):
        draw_with(learned_gates.draw, ["RTE"], table=gates)


def test_heads_and_mlps_have_rows_of_their_own() -> None:
    ends = {"ci_low": 0.1, "ci_high": 0.9, "task": "QNLI", "reference": "leave-one-out loss"}
    rows = [
        {**ends, "part": part, "mode": mode, "definition": "signed gradient", "spearman": rho}
        for part, mode, rho in (
            ("head", "zero", 0.5),
            ("head", "uniform", 0.4),
            ("MLP", "zero", 0.8),
        )
    ]
    figure = draw_with(importance_agreement.draw, ["QNLI"], table=pd.DataFrame(rows))
    (axes,) = figure.axes
    named = dict(
        zip((t.get_text() for t in axes.get_yticklabels()), axes.get_yticks(), strict=True)
    )
    assert set(named) == {f"signed gradient ({of})" for of in ("zero", "uniform", "MLPs")}
    height = named["signed gradient (MLPs)"]
    values = [
        float(x)
        for line in axes.lines
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        if abs(y - height) < 0.5
    ]
    assert 0.8 in values
    assert not {0.4, 0.5} & set(values)
