"""Figures of features against the tables they are drawn from, read back from the drawn objects."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from drawn import ALL, axes_named, cells_of, draw_with, line_named, mesh_of

from darksecrets.core.run.columns import STATES_OF_FIGURES
from darksecrets.core.run.errors import InputError
from darksecrets.paper.features.figures import figure6, figure7, head_statistics, stripes_index
from darksecrets.paper.features.labels import FEATURES

MANY = [*ALL, "CoLA", "a-task-with-a-rather-long-name", "WNLI", "another-long-name", "emotion"]
SIDES = (
    "after fine-tuning, relative to random tokens",
    "change by fine-tuning, over random tokens",
)
"""Of the index of stripes."""
STATES = (("pretrained", None), ("finetuned", 1), ("finetuned", 2), ("random", 1))


def table(column, kinds, values, tasks=ALL, layers=4, heads=3):
    """A row per task, model, kind and head, with random values, in random order."""
    random = np.random.default_rng(7)
    rows = [
        {"task": task, "state": state, "seed": seed, column: kind, "layer": layer, "head": head}
        | {value: random.uniform(0.01, 0.9) for value in values}
        for task in tasks
        for state, seed in STATES
        for kind in kinds
        for layer in range(1, layers + 1)
        for head in range(1, heads + 1)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=7)


@pytest.fixture(scope="module")
def striped():
    return table("feature", FEATURES, ["weight", "control", "uniform"], MANY)


def clim(figure, name):
    return mesh_of(axes_named(figure, name)).get_clim()


def expected(rows, value, layers=4, heads=3):
    """[layer, head] means over seeds, one row of the table after the other."""
    found = np.zeros((layers, heads))
    for layer, head in np.ndindex(layers, heads):
        cells = [
            getattr(row, value)
            for row in rows.itertuples()
            if (row.layer, row.head) == (layer + 1, head + 1)
        ]
        found[layer, head] = sum(cells) / len(cells)
    return found


def select(data, **columns):
    for name, value in columns.items():
        data = data[data[name] == value]
    return data


def test_figure6_has_a_row_for_sep_and_one_for_cls_after_fine_tuning(striped):
    figure = draw_with(figure6.draw, ALL, table=striped)
    for name in ("[SEP]", "[CLS]"):
        for task in ALL:
            rows = select(striped, state="finetuned", feature=name, task=task)
            ratio = expected(rows, "weight") / expected(rows, "uniform")
            np.testing.assert_allclose(cells_of(figure, f"{task} {name}"), ratio)
    assert len({clim(figure, f"{task} {n}") for task in ALL for n in ("[SEP]", "[CLS]")}) == 1
    with pytest.raises(InputError, match=r"no rows with feature \[SEP\], task other"):
        draw_with(figure6.draw, ["RTE", "other"], table=striped)


def index_tables(tasks, seed=2):
    """Levels and changes of the encoder, of layer 1 and of states and measures not drawn."""
    random = np.random.default_rng(seed)
    levels, changes = [], []
    for task in tasks:
        for feature in FEATURES:
            for layer in (None, 1):
                where = {"task": task, "feature": feature, "layer": layer}
                for state in ("pretrained", "finetuned"):
                    for measure in ("greatest", "per token"):
                        weight, control = random.uniform(0.01, 0.4, 2)
                        levels.append(
                            {**where, "state": state, "measure": measure, "control": control}
                            | {"weight": weight, "weight_low": weight - 0.1}
                            | {"weight_high": weight + 0.1}
                        )
                over = random.normal(0, 0.02)
                changes.append(
                    {**where, "over_control": over, "over_control_low": over - 0.01}
                    | {"over_control_high": over + 0.01, "q_value": random.random() ** 3}
                )
    return [pd.DataFrame(rows).sample(frac=1, random_state=4) for rows in (levels, changes)]


@pytest.mark.parametrize("tasks", [ALL[:1], MANY], ids=len)
def test_the_index_has_a_cell_for_every_feature_and_task(tasks):
    levels, changes = (t[t["feature"] != "negation"] for t in index_tables(tasks))
    figure = draw_with(stripes_index.draw, tasks, table=levels, changes=changes)
    groups = -(-len(tasks) // 8)
    beside = -(-len(tasks) // groups)
    chosen = select(levels, state="finetuned", measure="greatest")
    chosen = chosen[chosen["layer"].isna()].set_index(["task", "feature"])
    changed = changes[changes["layer"].isna()].set_index(["task", "feature"])
    for side, group in product((0, 1), range(groups)):
        cells = cells_of(figure, f"{SIDES[side]} {group}")
        for column, task in enumerate(tasks[group * beside :][:beside]):
            for row, feature in enumerate(figure7.FEATURES):
                if feature == "negation":
                    assert np.isnan(cells[row, column])
                elif side:
                    over = 100 * changed.loc[(task, feature), "over_control"]
                    assert cells[row, column] == pytest.approx(over)
                else:
                    of = chosen.loc[(task, feature)]
                    assert 2 ** cells[row, column] == pytest.approx(of["weight"] / of["control"])
        low, high = clim(figure, f"{SIDES[side]} {group}")
        assert low == -high, "as random tokens is white"


def test_figure7_has_features_as_rows_and_heads_of_the_last_layer_as_columns():
    data = table("feature", FEATURES, ["weight", "control"], layers=1).drop(columns="layer")
    data = data[(data["feature"] != "negation") | (data["task"] != "QQP")]
    figure = draw_with(figure7.draw, ALL, table=data)
    for task in ALL:
        above, below = cells_of(figure, task), cells_of(figure, f"{task} over control")
        for number, feature in enumerate(figure7.FEATURES):
            rows = select(data, state="finetuned", task=task, feature=feature)
            for head in (1, 2, 3):
                if feature == "negation" and task == "QQP":
                    assert np.isnan([above[number, head - 1], below[number, head - 1]]).all()
                else:
                    weight, control = rows[rows["head"] == head][["weight", "control"]].mean()
                    assert above[number, head - 1] == pytest.approx(weight)
                    assert below[number, head - 1] == pytest.approx(weight - control)
    low, high = clim(figure, "RTE over control")
    assert low == -high, "no difference is white"
    assert set(figure7.FEATURES) == set(FEATURES)


def test_head_statistics_are_means_over_the_heads_of_a_layer():
    statistics, tasks = head_statistics.STATISTICS, ["RTE", "SST-2"]
    data = table("statistic", [*statistics, "entropy"], ["value", "uniform"], tasks=tasks)
    figure = draw_with(head_statistics.draw, tasks, table=data)
    for name in statistics:
        axes = axes_named(figure, f"SST-2 {name}")
        rows = select(data, task="SST-2", statistic=name)
        parts = {"uniform": (rows, "uniform")}
        parts |= {state: (select(rows, state=state), "value") for state in STATES_OF_FIGURES}
        for label, (part, column) in parts.items():
            means = [part[part["layer"] == layer][column].mean() for layer in range(1, 5)]
            np.testing.assert_allclose(line_named(axes, label).get_ydata(), means)
    with pytest.raises(InputError, match=r"no rows with task QQP, statistic \[CLS\]"):
        draw_with(head_statistics.draw, ["RTE", "QQP"], table=data)
