"""The figure of weights beside norms."""

import numpy as np
import pandas as pd
import pytest

from darksecrets.norms.tables import KINDS
from darksecrets.norms.weights_and_norms import LOOKS, weights_and_norms
from darksecrets.run.errors import InputError


def table(tasks=("RTE",), layers=3, kinds=KINDS) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    states = [("random", 1), ("pretrained", None), ("finetuned", 1), ("finetuned", 2)]
    frame = pd.DataFrame(
        [
            {"task": task, "state": state, "seed": seed, "kind": kind, "layer": layer}
            for task in tasks
            for state, seed in states
            for kind in kinds
            for layer in [*range(1, layers + 1), None]
        ]
    )
    for side in ("weight", "norm"):
        frame[side] = rng.uniform(0.1, 0.3, len(frame))
        frame[f"{side}_low"], frame[f"{side}_high"] = frame[side] - 0.05, frame[side] + 0.05
    return frame.astype({"layer": "Int64"})


def test_lines_are_the_numbers_of_the_table() -> None:
    frame = table()
    panels = {panel.get_label(): panel for panel in weights_and_norms(frame, ["RTE"], "x").axes}
    assert len(panels) == 6
    for side in ("weight", "norm"):
        lines = dict(zip(LOOKS, panels[f"finetuned RTE {side}"].lines, strict=True))
        for kind, line in lines.items():
            rows = frame[(frame["state"] == "finetuned") & (frame["kind"] == kind)]
            means = rows.dropna(subset="layer").groupby("layer")[side].mean()
            np.testing.assert_allclose(line.get_ydata(), means)
            assert line.get_xdata().tolist() == [1, 2, 3]
    assert panels["random RTE weight"].get_ylim() == panels["finetuned RTE norm"].get_ylim()


@pytest.mark.parametrize(("tasks", "layers"), [(1, 1), (3, 12), (7, 2)])
def test_it_is_drawn_for_any_number_of_tasks_and_layers(tasks: int, layers: int) -> None:
    names = [f"task {number}" for number in range(tasks)]
    figure = weights_and_norms(table(names, layers), names, "x")
    assert len(figure.axes) == 6 * tasks
    figure.draw_without_rendering()


def test_a_kind_that_a_task_lacks_is_not_drawn() -> None:
    kinds = [kind for kind in KINDS if kind != "punctuation"]
    figure = weights_and_norms(table(kinds=kinds), ["RTE"], "x")
    drawn = [line for line in figure.axes[0].lines if len(line.get_xdata())]
    assert len(drawn) == len(LOOKS) - 1


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="has no rows for random MRPC"):
        weights_and_norms(table(), ["MRPC"], "x")
    with pytest.raises(InputError, match="missing: norm_low"):
        weights_and_norms(table().drop(columns="norm_low"), ["RTE"], "x")
