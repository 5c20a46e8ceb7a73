"""Figures of features against the tables they are drawn from, read back from the drawn objects."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from drawn import (
    ALL,
    axes_named,
    cells_of,
    draw_with,
    headline_of,
    line_named,
    marked,
    mesh_of,
)

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.states import STATES_OF_FIGURES
from darksecrets.paper.features.figures import (
    figure6,
    figure7,
    figure7_controls,
    head_statistics,
    stripes_index,
)
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
    figure = draw_with(figure6.draw, ALL, stripes=striped)
    for name in ("[SEP]", "[CLS]"):
        for task in ALL:
            rows = select(striped, state="finetuned", feature=name, task=task)
            weights = expected(rows, "weight")
            np.testing.assert_allclose(cells_of(figure, f"{task} {name}"), weights)
        assert len({clim(figure, f"{task} {name}") for task in ALL}) == 1, "a scale per row"
    sep, cls = (
        100 * max(cells_of(figure, f"{task} {name}").max() for task in ALL)
        for name in ("[SEP]", "[CLS]")
    )
    said = f"Heads give up to {sep:.0f}% of their attention to [SEP], up to {cls:.0f}% to [CLS]"
    assert " ".join(headline_of(figure).split()) == said
    with pytest.raises(InputError, match=r"no rows with feature \[SEP\], task other"):
        draw_with(figure6.draw, ["RTE", "other"], stripes=striped)


@pytest.mark.parametrize("feature", ["[SEP]", "[CLS]"])
def test_attention_that_is_nearly_uniform_is_pale(striped, feature):
    uniform = striped.assign(uniform=0.05, weight=0.05 + striped["weight"] / 1000)
    figure = draw_with(figure6.draw, ALL, stripes=uniform)
    cells, (low, high) = cells_of(figure, f"RTE {feature}"), clim(figure, f"RTE {feature}")
    assert low == 0
    assert cells.max() < 0.4 * high


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
    figure = draw_with(
        stripes_index.draw, tasks, attention_levels=levels, attention_changes=changes
    )
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


def attention_from_cls():
    """What [CLS] gives to every feature, in the last layer."""
    rows = table("feature", FEATURES, ["weight", "control", "uniform"], layers=1)
    return rows.drop(columns="layer")


def test_figure7_has_features_as_rows_and_heads_of_the_last_layer_as_columns():
    data = attention_from_cls()
    data = data[(data["feature"] != "negation") | (data["task"] != "QQP")]
    figure = draw_with(figure7.draw, ALL, cls_attention=data)
    supplement = draw_with(figure7_controls.draw, ALL, cls_attention=data)
    for task in ALL:
        weights, excess = cells_of(figure, task), cells_of(supplement, task)
        dots = marked(axes_named(figure, task), "above the control")
        for number, feature in enumerate(figure7.FEATURES):
            rows = select(data, state="finetuned", task=task, feature=feature)
            for head in (1, 2, 3):
                if feature == "negation" and task == "QQP":
                    assert np.isnan([weights[number, head - 1], excess[number, head - 1]]).all()
                    assert (number + 1, head) not in dots
                else:
                    weight, control = rows[rows["head"] == head][["weight", "control"]].mean()
                    assert weights[number, head - 1] == pytest.approx(weight)
                    assert excess[number, head - 1] == pytest.approx(weight - control)
                    assert ((number + 1, head) in dots) == (weight > control)
    low, high = clim(supplement, "RTE")
    assert low == -high, "no difference is white"
    assert set(figure7.FEATURES) == set(FEATURES)


def test_figure7_names_the_feature_that_is_furthest_above_its_control():
    data = attention_from_cls()
    data["control"] = data["weight"]
    best = (data["feature"] == "verb") & (data["head"] == 2) & (data["state"] == "finetuned")
    data.loc[best, ["weight", "control"]] = 0.95, 0.1
    said = " ".join(headline_of(draw_with(figure7.draw, ALL, cls_attention=data)).split())
    assert re.fullmatch(
        r"In the last layer, \S+'s \[CLS\] gives a verb up to 95% \(head 2\), random tokens 10%",
        said,
    )
    data.loc[best & (data["task"] == "RTE"), "weight"] = 0.97
    said = " ".join(headline_of(draw_with(figure7.draw, ALL, cls_attention=data)).split())
    assert "RTE's [CLS] gives a verb up to 97% (head 2)" in said


def test_figure7_names_all_features_to_which_the_head_attends_as_much():
    """In some encoders, the states of [CLS] and [SEP] are the same, so heads cannot choose."""
    data = attention_from_cls()
    data["control"] = data["weight"]
    one = (data["task"] == "RTE") & (data["head"] == 2) & (data["state"] == "finetuned")
    cells = {"[CLS]": (0.95, 0.1), "[SEP]": (0.95003, 0.12), "noun": (0.94, 0.0905)}
    cells |= {"verb": (0.95, 0.95)}  # no more than random tokens get
    for feature, numbers in cells.items():
        data.loc[one & (data["feature"] == feature), ["weight", "control"]] = numbers
    said = " ".join(headline_of(draw_with(figure7.draw, ALL, cls_attention=data)).split())
    assert "RTE's [CLS] gives [CLS] and [SEP] up to 95% each (head 2)" in said
    assert said.endswith("random tokens at most 12%")


def test_figure7_names_no_feature_if_none_is_above_its_control():
    data = attention_from_cls()
    data["control"] = data["weight"]
    said = " ".join(headline_of(draw_with(figure7.draw, ALL, cls_attention=data)).split())
    assert said == "In the last layer, [CLS] attends to no feature more than to random tokens"


def test_head_statistics_are_means_over_heads_and_tasks_with_the_range_of_tasks():
    statistics, tasks = head_statistics.STATISTICS, ["RTE", "SST-2"]
    data = table("statistic", [*statistics, "entropy"], ["value", "uniform"], tasks=tasks)
    figure = draw_with(head_statistics.draw, tasks, head_statistics=data)
    for name in statistics:
        axes = axes_named(figure, name)
        rows = select(data, statistic=name)
        for place, state in enumerate(STATES_OF_FIGURES):
            own = select(rows, state=state)
            by_task = np.array(
                [
                    [select(own, layer=layer, task=task)["value"].mean() for layer in range(1, 5)]
                    for task in tasks
                ]
            )
            means = line_named(axes, state).get_ydata()
            np.testing.assert_allclose(means, by_task.mean(axis=0))
            corners = axes.collections[place].get_paths()[0].vertices.round(9).tolist()
            for layer in range(4):
                assert [layer + 1, round(by_task[:, layer].min(), 9)] in corners
                assert [layer + 1, round(by_task[:, layer].max(), 9)] in corners
    with pytest.raises(InputError, match="no rows with task QQP"):
        draw_with(head_statistics.draw, ["QQP"], head_statistics=data)
