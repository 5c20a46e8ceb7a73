"""Figures of subnetworks against the tables they are drawn from."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from darksecrets.run.errors import InputError
from darksecrets.subnetworks.subnetwork_scores import subnetwork_scores
from darksecrets.subnetworks.surviving_parts import surviving_parts

LABEL = "run demo · tiny BERT · built-in corpus"
LAYERS, HEADS = 3, 4


def kept(tasks: dict[str, tuple[int, ...]]) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = [
        {"task": task, "seed": seed, "subnetwork": name, "part": part, "layer": layer}
        | {"head": head, "kept": bool(rng.random() < 0.5)}
        for task, seeds in tasks.items()
        for seed in seeds
        for name in ("good", "bad", "random")
        for layer in range(1, LAYERS + 1)
        for part, heads in (("head", range(1, HEADS + 1)), ("MLP", [None]))
        for head in heads
    ]
    return pd.DataFrame(rows).astype({"head": "Int64"}).sample(frac=1, random_state=2)


AGREEMENT = pd.DataFrame(
    {
        "task": ["RTE", "MRPC", "QQP", "RTE"],
        "part": ["head", "head", "head", "MLP"],
        "seeds": [2, 1, 2, 2],
        "kappa": [0.31, np.nan, np.nan, 0.9],
        "ci_low": [0.1, np.nan, np.nan, 0.8],
        "ci_high": [0.52, np.nan, np.nan, 1],
    }
)


def heatmaps(figure: Figure) -> list[np.ndarray]:
    return [
        np.asarray(mesh.get_array())
        for axes in figure.axes
        for mesh in axes.collections
        if isinstance(mesh, QuadMesh) and "bar" not in str(axes.get_label())
    ]


def test_shares_of_seeds_are_drawn_and_kappa_is_said() -> None:
    table = kept({"RTE": (1, 2), "MRPC": (1,), "QQP": (1, 2)})
    figure = surviving_parts(table, AGREEMENT, ["RTE", "MRPC", "QQP"], LABEL)
    drawn = heatmaps(figure)
    good = table[table["subnetwork"] == "good"]
    for number, task in enumerate(("RTE", "MRPC", "QQP")):
        for part, values in zip(("head", "MLP"), drawn[2 * number : 2 * number + 2], strict=True):
            rows = good[(good["task"] == task) & (good["part"] == part)]
            shares = rows.fillna({"head": 1}).groupby(["layer", "head"])["kept"].mean()
            assert values.ravel() == pytest.approx(shares.to_numpy())
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == [
        "RTE\n2 seeds, κ = 0.31 (0.10 to 0.52)",
        "MRPC\none seed",
        "QQP\n2 seeds, all alike",
    ]


def test_a_task_without_rows_is_named() -> None:
    with pytest.raises(InputError, match="no rows for SST-2"):
        surviving_parts(kept({"RTE": (1,)}), AGREEMENT, ["RTE", "SST-2"], LABEL)


def scored(*trained: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(3)
    shared = {"task": "RTE", "state": "finetuned", "metric": "accuracy", "chance": 50.0}

    def row(weights: float) -> dict[str, float]:
        score = float(rng.uniform(40, 80))
        ends = {"ci_low": score - 74, "ci_high": score - 66}
        return {"weights": weights, "baseline": 70.0, "score": score, **ends}

    scores = [
        {**shared, "seed": seed, "subnetwork": kind, "trained": how, **row(0.5)}
        for seed in (1, 2)
        for kind in ("good", "bad", "random")
        for how in trained
    ]
    pruned = [
        {**shared, "seed": seed, **row(left / 10)} for seed in (1, 2) for left in range(9, 0, -1)
    ]
    return pd.DataFrame(scores), pd.DataFrame(pruned)


@pytest.mark.parametrize("trained", [("as it is",), ("as it is", "re-trained")])
def test_scores_are_means_over_seeds_with_their_intervals(trained: tuple[str, ...]) -> None:
    scores, pruned = scored(*trained)
    figure = subnetwork_scores(scores, pruned, {"RTE": "accuracy"}, LABEL)
    (axes,) = figure.axes
    lines = {str(line.get_label()): line for line in axes.lines}
    means = pruned.groupby("weights")["score"].mean().sort_index(ascending=False)
    assert lines["magnitude"].get_ydata() == pytest.approx(means.to_numpy())
    assert lines["magnitude"].get_xdata() == pytest.approx(100 * means.index.to_numpy())
    dots = [line for line in axes.lines if len(line.get_xdata()) == 1]
    expected = scores.groupby(["subnetwork", "trained"])["score"].mean()
    assert sorted(dot.get_ydata()[0] for dot in dots) == pytest.approx(sorted(expected))
    assert len({round(float(dot.get_xdata()[0]), 6) for dot in dots}) == len(expected), "apart"
    ends = sorted(
        float(line.get_ydata()[1] - line.get_ydata()[0])
        for line in axes.lines
        if len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1]
    )
    assert ends == pytest.approx([8] * len(expected))
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert ("trained again" in said) == (len(trained) == 2)
