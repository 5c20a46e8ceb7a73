"""The figure of stripes by measure."""

import numpy as np
import pandas as pd
import pytest
from drawn import draw_with

from darksecrets.attention_measures.stripes_by_measure import LEVELS, LOOKS, draw
from darksecrets.run.errors import InputError


def table(tasks=("RTE",), layers=3, measures=tuple(LOOKS)) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        [
            {"attention": name, "task": task, "state": state, "measure": of, "layer": layer}
            | {"feature": feature}
            for name in measures
            for task in tasks
            for state in ("random", "pretrained", "finetuned")
            for of in ("greatest", "total")
            for layer in [*range(1, layers + 1), None]
            for feature in ("[CLS]", "[SEP]", "noun")
        ]
    )
    frame["weight"] = rng.uniform(0.1, 0.3, len(frame))
    frame["weight_low"], frame["weight_high"] = frame["weight"] - 0.05, frame["weight"] + 0.05
    return frame.astype({"layer": "Int64"})


def test_lines_are_the_numbers_of_the_table() -> None:
    frame = table()
    panels = {panel.get_label(): panel for panel in draw_with(draw, ["RTE"], table=frame).axes}
    assert set(panels) == {"RTE [CLS]", "RTE [SEP]"}
    own = frame.dropna(subset="layer").query("measure == 'greatest'")
    for feature in ("[CLS]", "[SEP]"):
        *lines, by_chance = panels[f"RTE {feature}"].lines
        for name, line in zip(LOOKS, lines, strict=True):
            rows = own.query(
                f"attention == '{name}' and state == 'finetuned' and feature == @feature"
            )
            np.testing.assert_array_equal(line.get_ydata(), rows["weight"])
            assert line.get_xdata().tolist() == [1, 2, 3]
        rows = own.query("attention == 'weights' and state == 'random' and feature == @feature")
        np.testing.assert_array_equal(by_chance.get_ydata(), rows["weight"])


@pytest.mark.parametrize(("tasks", "layers"), [(1, 1), (3, 12), (7, 2)])
def test_it_is_drawn_for_any_number_of_tasks_layers_and_measures(tasks: int, layers: int) -> None:
    names = [f"task {number}" for number in range(tasks)]
    frame = table(names, layers, measures=("weights", "norms")[: 1 + tasks % 2])
    figure = draw_with(draw, names, table=frame)
    assert len(figure.axes) == 2 * tasks
    figure.draw_without_rendering()


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError, match=rf"{LEVELS.file} has no rows with task MRPC"):
        draw_with(draw, ["MRPC"], table=table())
