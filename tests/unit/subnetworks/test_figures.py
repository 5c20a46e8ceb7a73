"""Figures of subnetworks against the tables they are drawn from."""

import numpy as np
import pandas as pd
import pytest
from drawn import cells_of, draw_with

from darksecrets.run.errors import InputError
from darksecrets.subnetworks import subnetwork_scores, surviving_parts

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


def test_shares_of_seeds_are_drawn_and_kappa_is_said() -> None:
    table = kept({"RTE": (1, 2), "MRPC": (1,), "QQP": (1, 2)})
    tasks = ["RTE", "MRPC", "QQP"]
    figure = draw_with(surviving_parts.draw, tasks, table=table, agreement=AGREEMENT)
    good = table[table["subnetwork"] == "good"]
    for task in tasks:
        for part in ("head", "MLP"):
            rows = good[(good["task"] == task) & (good["part"] == part)]
            shares = rows.fillna({"head": 1}).groupby(["layer", "head"])["kept"].mean()
            assert cells_of(figure, f"{task} {part}").ravel() == pytest.approx(shares.to_numpy())
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == [
        "RTE\n2 seeds, κ = 0.31 (0.10 to 0.52)",
        "MRPC\none seed",
        "QQP\n2 seeds, all alike",
    ]


def test_a_task_without_rows_is_named() -> None:
    with pytest.raises(InputError, match="no rows with task RTE"):
        draw_with(surviving_parts.draw, ["RTE"], table=kept({"SST-2": (1,)}), agreement=AGREEMENT)


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
    figure = draw_with(subnetwork_scores.draw, ["RTE"], table=scores, magnitude=pruned)
    (axes,) = figure.axes
    magnitude = axes.lines[2]
    means = pruned.groupby("weights")["score"].mean()
    assert magnitude.get_ydata() == pytest.approx(means.to_numpy())
    assert magnitude.get_xdata() == pytest.approx(100 * means.index.to_numpy())
    dots = np.concatenate([line.get_xydata() for line in axes.lines[3:]])
    expected = scores.groupby(["subnetwork", "trained"])["score"].mean()
    assert sorted(dots[:, 1]) == pytest.approx(sorted(expected))
    assert len(set(dots[:, 0].round(6))) == len(expected), "apart"
    intervals = [each for part in axes.collections[1:] for each in part.get_segments()]
    assert [high[1] - low[1] for low, high in intervals] == pytest.approx([8] * len(expected))
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert ("trained again" in said) == (len(trained) == 2)
