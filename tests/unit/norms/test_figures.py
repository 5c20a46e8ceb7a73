"""The figure of weights beside norms."""

import numpy as np
import pandas as pd
import pytest
from drawn import draw_with

from darksecrets.norms.tables import KINDS
from darksecrets.norms.weights_and_norms import LOOKS, draw
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
    panels = {panel.get_label(): panel for panel in draw_with(draw, ["RTE"], table=frame).axes}
    assert len(panels) == 6
    for side in ("weight", "norm"):
        lines = dict(zip(LOOKS, panels[f"RTE finetuned {side}"].lines, strict=True))
        for kind, line in lines.items():
            rows = frame[(frame["state"] == "finetuned") & (frame["kind"] == kind)]
            means = rows.dropna(subset="layer").groupby("layer")[side].mean()
            np.testing.assert_allclose(line.get_ydata(), means)
            assert line.get_xdata().tolist() == [1, 2, 3]
    assert panels["RTE random weight"].get_ylim() == panels["RTE finetuned norm"].get_ylim()


@pytest.mark.parametrize(("tasks", "layers"), [(1, 1), (3, 12), (7, 2)])
def test_it_is_drawn_for_any_number_of_tasks_and_layers(tasks: int, layers: int) -> None:
    names = [f"task {number}" for number in range(tasks)]
    figure = draw_with(draw, names, table=table(names, layers))
    assert len(figure.axes) == 6 * tasks
    figure.draw_without_rendering()


def test_a_kind_that_a_task_lacks_is_not_drawn() -> None:
    kinds = [kind for kind in KINDS if kind != "punctuation"]
    figure = draw_with(draw, ["RTE"], table=table(kinds=kinds))
    drawn = [line for line in figure.axes[0].lines if len(line.get_xdata())]
    assert len(drawn) == len(LOOKS) - 1


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="no rows with task MRPC, state random"):
        draw_with(draw, ["MRPC"], table=table())
