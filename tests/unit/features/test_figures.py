"""Figures of features against the tables they are drawn from, read back from the drawn objects."""

import numpy as np
import pandas as pd
import pytest
from drawn import axes_named, mesh_of, written
from glue import TASKS
from matplotlib.backends.backend_agg import FigureCanvasAgg

from darksecrets.features import figure7 as seventh
from darksecrets.features import token_pairs as pairs
from darksecrets.features.diagonal import diagonal_correlations
from darksecrets.features.figure6 import figure6
from darksecrets.features.figure7 import figure7
from darksecrets.features.head_statistics import STATISTICS, head_statistics
from darksecrets.features.labels import FEATURES, RELATIONS
from darksecrets.features.stripes import stripes
from darksecrets.features.stripes_index import stripes_index
from darksecrets.features.token_pairs import token_pairs
from darksecrets.plotting.style import SMALL
from darksecrets.run.columns import STATES_OF_FIGURES
from darksecrets.run.errors import InputError

ALL = list(TASKS)
FEW = ["MRPC", "RTE", "QQP"]
MANY = [*ALL, "CoLA", "a-task-with-a-rather-long-name", "WNLI", "another-long-name", "emotion"]
FIGURES = ("figure6", "stripes", "stripes_index", "figure7", "token_pairs", "statistics")
LABEL = "run demo · tiny BERT · built-in corpus (not comparable with the paper)"
PAIR_VALUES = ["weight", "control", "diagonal", "q_value", "examples"]
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


def mesh_in(figure, name):
    return mesh_of(axes_named(figure, name))


def shown(figure, name):
    return np.asarray(mesh_in(figure, name).get_array())


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
    figure = figure6(striped, ALL, LABEL)
    meshes = {name: mesh_in(figure, f"{name} RTE") for name in ("[SEP]", "[CLS]")}
    for name in meshes:
        for task in ALL:
            rows = select(striped, state="finetuned", feature=name, task=task)
            ratio = expected(rows, "weight") / expected(rows, "uniform")
            np.testing.assert_allclose(shown(figure, f"{name} {task}"), ratio)
    assert len({(mesh.norm.vmin, mesh.norm.vmax) for mesh in meshes.values()}) == 1
    (bar,) = (axes for axes in figure.axes if axes.get_label().endswith("colour bar"))
    assert [list(line.get_ydata()) for line in bar.lines] == [[1, 1]], "uniform attention"
    assert bar.get_position().height > 1.5 * axes_named(figure, "[SEP] RTE").get_position().height
    assert "after fine-tuning" in figure.get_suptitle()
    tops = [axes.get_position().y0 for axes in figure.axes if axes.get_label().endswith("RTE")]
    assert tops[0] > tops[1], "[SEP] above [CLS], as in the paper"
    colours = meshes["[CLS]"].cmap(np.linspace(0, 1, 50))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(colours) < 0).all(), "darker is more attention"


@pytest.mark.parametrize(("feature", "named"), [("noun", "noun"), ("sep", "[SEP]")])
def test_stripes_show_both_states_their_difference_and_the_control(striped, feature, named):
    figure = stripes(striped, feature, ALL, LABEL)
    for task in ALL:
        rows = select(striped, feature=named, task=task)
        before = expected(select(rows, state="pretrained"), "weight")
        after = expected(select(rows, state="finetuned"), "weight")
        control = expected(select(rows, state="finetuned"), "control")
        by_chance = expected(select(rows, state="random"), "weight")
        np.testing.assert_allclose(shown(figure, f"random {task}"), by_chance)
        np.testing.assert_allclose(shown(figure, f"pretrained {task}"), before)
        np.testing.assert_allclose(shown(figure, f"finetuned {task}"), after)
        np.testing.assert_allclose(shown(figure, f"difference {task}"), after - before)
        np.testing.assert_allclose(shown(figure, f"over control {task}"), after - control)
    norm = mesh_in(figure, "difference RTE").norm
    assert norm.vmin == -norm.vmax, "no difference is white"


def test_stripes_of_all_features_have_the_same_scales_which_cover_them(striped):
    some = striped[striped["feature"].isin(["noun", "[SEP]"])].copy()
    some.loc[some["feature"] == "[SEP]", "weight"] *= 3
    some.loc[some["task"] == "emotion", "weight"] = 99  # a task that is not drawn
    figures = [stripes(some, name, FEW, LABEL) for name in ("noun", "sep")]
    for row in ("random", "pretrained", "finetuned", "difference", "over control"):
        ends, values = set(), []
        for figure in figures:
            for task in FEW:
                ends.add(mesh_in(figure, f"{row} {task}").get_clim())
                values.append(np.abs(shown(figure, f"{row} {task}")).max())
        ((low, high),) = ends
        assert low == (0 if row in ("random", "pretrained", "finetuned") else -high)
        assert max(values) <= high + 1e-12
        if row in ("difference", "over control"):
            assert max(values) == pytest.approx(high)


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


@pytest.mark.parametrize("tasks", [ALL[:1], ALL, MANY], ids=len)
def test_the_index_has_a_cell_for_every_feature_and_task(tasks):
    levels, changes = index_tables(tasks)
    levels, changes = (
        t[(t["feature"] != "negation") | (t["task"] != "MRPC")] for t in (levels, changes)
    )
    figure = stripes_index(levels, changes, tasks, LABEL)
    groups = -(-len(tasks) // 8)
    beside = -(-len(tasks) // groups)
    chosen = select(levels, state="finetuned", measure="greatest")
    chosen = {(r.task, r.feature): r for r in chosen[chosen["layer"].isna()].itertuples()}
    changed = changes[changes["layer"].isna()]
    changed = {(r.task, r.feature): r for r in changed.itertuples()}
    for number, task in enumerate(tasks):
        group, column = divmod(number, beside)
        for row, feature in enumerate(seventh.FEATURES):
            for side in (0, 1):
                axes = axes_named(figure, f"{side} {group}")
                cell = np.ma.masked_invalid(mesh_of(axes).get_array())[row, column]
                (text,) = (t for t in axes.texts if t.get_position() == (column, row))
                if (task, feature) not in chosen:
                    assert cell is np.ma.masked
                    assert text.get_text() == ""
                    continue
                if side:
                    of = changed[task, feature]
                    value, sure = 100 * of.over_control, of.q_value < 0.05
                    assert cell == pytest.approx(value)
                else:
                    of = chosen[task, feature]
                    value = of.weight / of.control
                    sure = not of.weight_low <= of.control <= of.weight_high
                    assert 2**cell == pytest.approx(value)
                assert float(text.get_text().replace("−", "-")) == pytest.approx(value, abs=0.0501)
                assert (text.get_weight() == "bold") == sure
    for side in (0, 1):
        low, high = mesh_of(axes_named(figure, f"{side} 0")).get_clim()
        assert low == -high, "as random tokens is white"


def test_the_index_of_a_run_without_changes_and_its_smallest_scale():
    levels, changes = index_tables(FEW)
    assert stripes_index(levels, changes.iloc[:0], FEW, LABEL).axes
    still = changes.assign(over_control=0.0, over_control_low=-0.03, over_control_high=0.03)
    figure = stripes_index(levels, still, FEW, LABEL)
    assert mesh_of(axes_named(figure, "1 0")).get_clim() == pytest.approx((-3, 3))


def test_a_task_without_the_feature_says_so(striped):
    some = striped[(striped["feature"] != "pronoun") | (striped["task"] != "SST-2")]
    figure = stripes(some, "pronoun", ALL, LABEL)
    (axes,) = (a for a in figure.axes if a.get_label() == "finetuned SST-2")
    assert [text.get_text() for text in axes.texts] == ["none"]
    nowhere = striped[striped["feature"] != "pronoun"]
    assert not stripes(nowhere, "pronoun", FEW, LABEL).axes[0].collections


def test_figure7_has_features_as_rows_and_heads_of_the_last_layer_as_columns():
    data = table("feature", FEATURES, ["weight", "control"], layers=1).drop(columns="layer")
    data = data[(data["feature"] != "negation") | (data["task"] != "QQP")]
    figure = figure7(data, ALL, LABEL)
    for task in ALL:
        mesh = np.ma.masked_invalid(mesh_in(figure, task).get_array())
        below = np.ma.masked_invalid(mesh_in(figure, f"{task} over control").get_array())
        for number, feature in enumerate(seventh.FEATURES):
            rows = select(data, state="finetuned", task=task, feature=feature)
            for head in (1, 2, 3):
                if feature == "negation" and task == "QQP":
                    assert mesh.mask[number, head - 1]
                    assert below.mask[number, head - 1]
                else:
                    weight, control = rows[rows["head"] == head][["weight", "control"]].mean()
                    assert mesh[number, head - 1] == pytest.approx(weight)
                    assert below[number, head - 1] == pytest.approx(weight - control)
    most = select(data, state="random")["weight"].max()
    (bar,) = (a for a in figure.axes if a.get_label() == "colour bar 1")
    assert bar.get_xlabel().endswith(f"(random: ≤ {most:.2f})")
    low, high = mesh_in(figure, "RTE over control").get_clim()
    assert low == -high, "no difference is white"
    assert set(seventh.FEATURES) == set(FEATURES)
    first = next(axes for axes in figure.axes if axes.get_label() == "MRPC")
    assert [text.get_text() for text in first.get_yticklabels()] == list(seventh.FEATURES)


def test_token_pairs_show_every_head_against_its_control_and_mark_those_that_exceed_all():
    data = table("relation", RELATIONS, PAIR_VALUES)
    data.loc[data["head"] == 2, "q_value"] = 0.01
    correlations = diagonal_correlations(data, 99, 0)
    figure = token_pairs(data, FEW, LABEL, correlations=correlations)
    for relation in RELATIONS:
        axes = axes_named(figure, f"QQP {relation}")
        rows = select(data, state="finetuned", task="QQP", relation=relation)
        places = {}
        for (layer, head), of_head in rows.groupby(["layer", "head"]):
            assert len(of_head) == 2, "means over seeds"
            values = (of_head[name].mean() for name in ("control", "weight", "diagonal"))
            places[layer, head] = tuple(np.round(list(values), 12))
        dots, rings = axes.collections
        drawn = np.column_stack([dots.get_offsets(), dots.get_array()])
        assert sorted(map(tuple, np.round(drawn, 12))) == sorted(places.values())
        every = (
            rows.assign(passes=rows["q_value"] < 0.05).groupby(["layer", "head"])["passes"].all()
        )
        marked = [places[key] for key, passes in every.items() if passes]
        assert len(marked) >= 4
        assert sorted(map(tuple, np.round(rings.get_offsets(), 12))) == sorted(
            place[:2] for place in marked
        )
        excess = {key: places[key][1] - places[key][0] for key, passes in every.items() if passes}
        first = sorted(excess, key=excess.get, reverse=True)[:3]
        names = [f"{layer}-{head}" for layer, head in first]
        (text,) = axes.texts
        assert text.get_text().split("\n")[:3] == names
        of_seeds = select(correlations, state="finetuned", task="QQP", relation=relation)
        means = [f"{of_seeds[name].mean():.2f}" for name in ("weight", "over_control")]
        assert axes.get_xlabel().startswith(f"r = {means[0]}, {means[1]}".replace("-", "−"))
    assert pairs.RELATIONS == RELATIONS


def test_heads_that_reach_no_related_tokens_are_left_out():
    data = table("relation", RELATIONS, PAIR_VALUES)
    data.loc[data["layer"] == 3, ["weight", "control", "examples"]] = 0
    data = data[(data["task"] != "RTE") | (data["relation"] != RELATIONS[0])]
    figure = token_pairs(data, FEW, LABEL, correlations=diagonal_correlations(data, 99, 0))
    dots = axes_named(figure, f"QQP {RELATIONS[0]}").collections[0]
    assert len(dots.get_offsets()) == 3 * 3
    empty = axes_named(figure, f"RTE {RELATIONS[0]}")
    assert [text.get_text() for text in empty.texts] == ["none"]
    assert not empty.collections


def test_head_statistics_are_means_over_the_heads_of_a_layer():
    values = ["value", "uniform"]
    data = table("statistic", [*STATISTICS, "entropy"], values, tasks=["RTE", "SST-2"])
    figure = head_statistics(data, ["RTE", "SST-2"], LABEL)
    for name in STATISTICS:
        axes = axes_named(figure, f"{name} SST-2")
        rows = select(data, task="SST-2", statistic=name)
        parts = [(rows, "uniform")]
        parts += [(rows[rows["state"] == state], "value") for state in STATES_OF_FIGURES]
        lines = [line for line in axes.lines if line.get_linestyle() != "None"]
        for line, (part, column) in zip(lines, parts, strict=True):
            means = [part[part["layer"] == layer][column].mean() for layer in range(1, 5)]
            np.testing.assert_allclose(line.get_ydata(), means)
        highest = select(data, statistic=name)["value"].max()
        assert axes.get_ylim() == pytest.approx((0, 1.05 * highest)), "one scale in a row"
    with pytest.raises(InputError, match=r"no rows for random \[CLS\] QQP"):
        head_statistics(data, ["RTE", "QQP"], LABEL)


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        *((name, tasks) for name in FIGURES for tasks in (FEW, MANY[7:8], MANY[:9], MANY)),
        *((name, ALL) for name in ("figure6", "stripes", "stripes_index", "figure7", "statistics")),
    ],
    ids=lambda value: value if isinstance(value, str) else len(value),
)
def test_nothing_is_cut_off_and_panels_do_not_overlap(striped, name, tasks):
    figure = {
        "figure6": lambda: figure6(striped, tasks, LABEL),
        "stripes": lambda: stripes(striped, "noun", tasks, LABEL),
        "stripes_index": lambda: stripes_index(*index_tables(tasks), tasks, LABEL),
        "figure7": lambda: figure7(striped[striped["layer"] == 1], tasks, LABEL),
        "token_pairs": lambda: token_pairs(
            data := table("relation", RELATIONS, PAIR_VALUES, tasks),
            *(tasks, LABEL),
            correlations=diagonal_correlations(data, 99, 0),
        ),
        "statistics": lambda: head_statistics(
            table("statistic", [*STATISTICS], ["value", "uniform"], tasks), tasks, LABEL
        ),
    }[name]()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    for text in written(figure):
        extent = text.get_window_extent(canvas.get_renderer())
        assert text.get_fontsize() >= SMALL
        assert -1 <= extent.x0 <= extent.x1 <= width + 1, text
        assert -1 <= extent.y0 <= extent.y1 <= height + 1, text
    titles = [axes.title for axes in figure.axes if axes.get_title()]
    if name != "stripes_index":
        assert [title.get_text().replace("\n", "") for title in titles] == tasks
    boxes = [axes.get_window_extent() for axes in figure.axes]
    boxes += [title.get_window_extent(canvas.get_renderer()) for title in titles]
    for number, one in enumerate(boxes):
        assert not any(one.padded(-1).overlaps(other.padded(-1)) for other in boxes[:number])


@pytest.mark.parametrize(
    "draw",
    [
        *(figure6, figure7, head_statistics),
        lambda t, *a: stripes(t, "noun", *a),
        lambda t, *a: stripes_index(t, t, *a),
        lambda t, *a: token_pairs(t, *a, correlations=t),
    ],
)
def test_a_table_without_its_columns_is_named(draw):
    with pytest.raises(InputError, match=r"missing: task, state"):
        draw(pd.DataFrame({"head": [1]}), ["RTE"], LABEL)
