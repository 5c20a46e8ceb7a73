"""Figures of disabled heads and layers against the tables they are drawn from."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest
from drawn import main_metrics
from glue import TASKS
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from darksecrets.ablation.ablation_deltas import ablation_deltas
from darksecrets.ablation.ablation_distribution import ablation_distribution
from darksecrets.ablation.ablation_gains import ablation_gains
from darksecrets.ablation.figure8 import figure8
from darksecrets.ablation.figure9 import figure9
from darksecrets.ablation.joint_ablation import joint_ablation
from darksecrets.ablation.tables import ORDERS
from darksecrets.ablation.task_agreement import task_agreement
from darksecrets.plotting import style
from darksecrets.run.errors import InputError

ALL = list(TASKS)
MAIN = main_metrics(ALL)
RTE = main_metrics(["RTE"])
LABEL = "run demo · tiny BERT · built-in corpus (not comparable with the paper)"


def effects(tasks: list[str], layers: int, heads: int, seeds: tuple[int, ...]) -> pd.DataFrame:
    """Random effects of heads, for all metrics, and of a state that is not drawn."""
    rng = np.random.default_rng(4)
    rows = []
    for task in tasks:
        for seed in seeds:
            for metric in TASKS[task].metrics:
                for layer, head in np.ndindex(layers, heads):
                    delta = round(rng.normal(-0.3, 0.5), 1)
                    p = rng.random() ** 3
                    rows.append(
                        {"task": task, "state": "finetuned", "seed": seed, "layer": layer + 1}
                        | {"head": head + 1, "metric": metric, "baseline": 80.0 + seed}
                        | {"score": 80.0 + seed + delta, "delta": delta, "p_value": p}
                        | {"ci_low": delta - 0.4, "ci_high": delta + 0.5, "q_value": min(1, 2 * p)}
                    )
    table = pd.DataFrame(rows)
    other = table.assign(state="finetuned-from-normal", score=0.0, delta=-9.0, q_value=0.0)
    return pd.concat([table, other]).sample(frac=1, random_state=5)


def gains(tasks: list[str], seeds: tuple[int, ...]) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "kind": kind}
        | {"naive_gain": rng.random(), "unbiased_gain": -0.1 - rng.random()}
        | {"ci_low": -1.5, "ci_high": 0.3}
        for task in tasks
        for seed in seeds
        for metric in TASKS[task].metrics
        for kind in ("head", "layer")
    ]
    return pd.DataFrame(rows)


def together(tasks: list[str], heads: int, seeds: tuple[int, ...]) -> pd.DataFrame:
    """Random scores of heads disabled together."""
    rng = np.random.default_rng(3)
    counts = [*(2**power for power in range(heads.bit_length()) if 2**power < heads), heads]
    rows = []
    for task in tasks:
        for seed in seeds:
            for metric in TASKS[task].metrics:
                for order in ORDERS:
                    for count in counts:
                        delta = -30 * rng.random()
                        rows.append(
                            {"task": task, "state": "finetuned", "seed": seed, "metric": metric}
                            | {"order": order, "heads": count, "baseline": 80.0 + seed}
                            | {"score": 80.0 + seed + delta, "chance": 50.0}
                            | {"ci_low": delta - 4, "ci_high": delta + 5}
                        )
    table = pd.DataFrame(rows)
    other = table.assign(state="finetuned-from-normal", score=0.0)
    return pd.concat([table, other]).sample(frac=1, random_state=5)


def of_layers(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["head"] == 1].drop(columns="head")


def metrics_of(draw: Callable[..., Figure], tasks: list[str]) -> dict[str, object]:
    """What a figure is told of its tasks: the main metric of each, or all metrics."""
    every = {task: list(TASKS[task].metrics) for task in tasks}
    return every if draw in (figure8, figure9) else main_metrics(tasks)


def all_figures(tasks: list[str], layers: int, heads: int, seeds: tuple[int, ...]):
    table = effects(tasks, layers, heads, seeds)
    return {
        "figure8": (figure8, table),
        "figure9": (figure9, of_layers(table)),
        "ablation_deltas": (ablation_deltas, table),
        "ablation_distribution": (ablation_distribution, table),
        "ablation_gains": (partial(ablation_gains, best=gains(tasks, seeds)), table),
        "joint_ablation": (joint_ablation, together(tasks, layers * heads, seeds)),
    }


def axes_named(figure: Figure, name: str) -> Axes:
    return next(axes for axes in figure.axes if axes.get_label() == name)


def mesh_of(figure: Figure, name: str) -> QuadMesh:
    axes = axes_named(figure, name)
    return next(part for part in axes.collections if isinstance(part, QuadMesh))


def mean(table: pd.DataFrame, task: str, column: str, **where: int | str) -> float:
    """Mean of the drawn rows, one by one."""
    found = [
        row[column]
        for row in table.to_dict("records")
        if (row["task"], row["state"], row["metric"]) == (task, "finetuned", TASKS[task].metrics[0])
        and all(row[name] == value for name, value in where.items())
    ]
    return sum(found) / len(found)


def line_named(axes: Axes, label: str):
    return next(line for line in axes.lines if line.get_label() == label)


@pytest.mark.parametrize("seeds", [(1,), (1, 2, 5)])
@pytest.mark.parametrize(("draw", "column"), [(figure8, "score"), (ablation_deltas, "delta")])
def test_every_cell_is_the_mean_over_seeds_of_a_head_layer_1_at_the_top(draw, column, seeds):
    table = effects(ALL, 3, 4, seeds)
    figure = draw(table, metrics_of(draw, ALL), LABEL)
    for task in ALL:
        mesh = mesh_of(figure, f"{task} heads")
        corners, values = mesh.get_coordinates(), mesh.get_array()
        for row, place in np.ndindex(3, 4):
            x, y = (corners[row, place] + corners[row + 1, place + 1]) / 2
            expected = mean(table, task, column, layer=round(y), head=round(x))
            assert values[row, place] == pytest.approx(expected, abs=1e-9)
        to_page = axes_named(figure, f"{task} heads").transData
        assert to_page.transform((1, 1))[1] > to_page.transform((1, 3))[1]


def test_figure_9_has_a_cell_and_a_number_for_every_layer():
    table = of_layers(effects(["MRPC", "STS-B"], 12, 2, (1, 2)))
    figure = figure9(table, metrics_of(figure9, ["MRPC", "STS-B"]), LABEL)
    for task in ("MRPC", "STS-B"):
        expected = [mean(table, task, "score", layer=layer) for layer in range(1, 13)]
        values = mesh_of(figure, f"{task} layers").get_array()
        assert values.ravel().tolist() == pytest.approx(expected)
        written = {
            round(text.get_position()[1]): text.get_text()
            for text in axes_named(figure, f"{task} layers").texts
        }
        assert written == {n: f"{value:.1f}" for n, value in enumerate(expected, start=1)}


def test_the_baseline_is_marked_on_the_colour_bar():
    figure = figure8(effects(ALL, 3, 4, (1, 2)), metrics_of(figure8, ALL), LABEL)
    for task in ALL:
        bar = axes_named(figure, f"{task} bar")
        (line,) = (line for line in bar.lines if to_hex(line.get_color()) == style.BASELINE.lower())
        assert list(line.get_ydata()) == [81.5, 81.5]
        assert bar.get_title() == "81.5"
        low, high = bar.get_ylim()
        assert low <= 81.5 <= high


@pytest.mark.parametrize(("draw", "what"), [(figure8, "heads"), (figure9, "layers")])
def test_darker_is_greater(draw, what):
    table = effects(ALL, 3, 4, (1, 2))
    figure = draw(table if draw is figure8 else of_layers(table), metrics_of(draw, ALL), LABEL)
    for task in ALL:
        mesh = mesh_of(figure, f"{task} {what}")
        colours = mesh.cmap(mesh.norm(np.linspace(*mesh.get_clim(), 50)))[:, :3]
        assert (np.diff(colours @ [0.2126, 0.7152, 0.0722]) < 0).all()


@pytest.mark.parametrize(("draw", "what"), [(figure8, "heads"), (figure9, "layers")])
@pytest.mark.parametrize("size", [0.01, 8.0])
def test_colours_cover_all_scores_and_two_standard_errors_around_the_baseline(draw, what, size):
    table = effects(["RTE"], 4, 5, (1, 2))
    table = table.assign(ci_low=table["delta"] - size, ci_high=table["delta"] + size / 2)
    table = table if draw is figure8 else of_layers(table)
    low, high = mesh_of(draw(table, metrics_of(draw, ["RTE"]), LABEL), f"RTE {what}").get_clim()
    place = [name for name in ("layer", "head") if name in table]
    scores = [
        mean(table, "RTE", "score", **cell)
        for cell in table[place].drop_duplicates().to_dict("records")
    ]
    noise = 0.75 * size  # half of every interval
    assert low == pytest.approx(min(*scores, 81.5 - noise))
    assert high == pytest.approx(max(*scores, 81.5 + noise))


@pytest.mark.parametrize(("draw", "what"), [(figure8, "heads"), (figure9, "layers")])
def test_marked_are_scores_that_differ_significantly_one_way_for_most_seeds(draw, what):
    table = effects(["RTE"], 6, 9, (1, 2, 3)).reset_index(drop=True)
    one_way = (table["layer"] == 2) & (table["head"] == 1)
    table.loc[one_way, ["delta", "q_value"]] = [-2.0, 0.001]
    both_ways = (table["layer"] == 3) & (table["head"] == 1)
    table.loc[both_ways, "q_value"] = 0.001
    table.loc[both_ways, "delta"] = table["seed"].map({1: 2.0, 2: -2.0, 3: 0.0})
    table = table if draw is figure8 else of_layers(table)
    axes = axes_named(draw(table, metrics_of(draw, ["RTE"]), LABEL), f"RTE {what}")
    expected = {1: set(), -1: set()}
    for (layer, head), rows in (
        table[table["state"] == "finetuned"]
        .assign(head=table.get("head", 1))
        .groupby(["layer", "head"])
    ):
        for sign, found in expected.items():
            sure = [r.q_value < 0.05 and r.delta * sign > 0 for r in rows.itertuples()]
            if sum(sure) >= 2:
                found.add((layer, head))
    assert (2, 1) in expected[-1]
    assert (3, 1) not in expected[1] | expected[-1]
    for sign, places in expected.items():
        line = line_named(axes, f"significant {sign}")
        marked = zip(line.get_ydata(), np.round(line.get_xdata()), strict=True)
        assert set(marked) == places


def test_figure_9_has_the_difference_and_interval_of_every_layer_and_seed():
    table = of_layers(effects(["MRPC", "STS-B"], 6, 2, (1, 2, 5)))
    figure = figure9(table, metrics_of(figure9, ["MRPC", "STS-B"]), LABEL)
    for task in ("MRPC", "STS-B"):
        axes = axes_named(figure, f"{task} intervals")
        drawn = table.query("task == @task and state == 'finetuned'")
        drawn = drawn[drawn["metric"] == TASKS[task].metrics[0]]
        intervals = {
            (round(low[0], 6), round(high[0], 6), round(low[1]))
            for part in axes.collections
            for low, high in part.get_segments()
        }
        expected = drawn[["ci_low", "ci_high", "layer"]].round(6).itertuples(index=False)
        assert intervals == set(map(tuple, expected))
        dots = {True: [], False: []}
        for line in axes.lines:
            if line.get_marker() == "o":
                filled = to_hex(line.get_markerfacecolor()) != "#ffffff"
                dots[filled] += zip(line.get_xdata(), map(round, line.get_ydata()), strict=True)
        for filled, found in dots.items():
            rows = drawn[(drawn["q_value"] < 0.05) == filled]
            assert sorted(found) == sorted(zip(rows["delta"], rows["layer"], strict=True))
        assert axes.lines[0].get_xdata() == [0, 0]
        assert axes.get_title() == f"intact: {mean(table, task, 'baseline'):.1f}"


def test_differences_are_centred_on_0_and_an_outlier_does_not_stretch_the_scale():
    table = effects(ALL, 3, 5, (1,))
    table.loc[(table["layer"] == 2) & (table["head"] == 3), "delta"] = -40.0
    figure = ablation_deltas(table, MAIN, LABEL)
    for task in ALL:
        mesh = mesh_of(figure, f"{task} heads")
        assert mesh.norm.vmin == -mesh.norm.vmax
        sizes = np.abs(mesh.get_array())
        assert np.mean(sizes <= mesh.norm.vmax / 2 + 1e-9) >= 11 / 15
        assert mesh.norm.vmax < 3
        assert mesh.colorbar.extend in ("min", "both")


def test_heads_are_marked_that_are_significant_for_more_than_half_of_the_seeds():
    table = effects(["RTE"], 6, 9, (1, 2, 3))
    axes = axes_named(ablation_deltas(table, RTE, LABEL), "RTE heads")
    expected = {"q_value": set(), "p_value": set()}
    drawn = table[table["state"] == "finetuned"]
    for place, rows in drawn.groupby(["layer", "head"]):
        for column in expected:
            if sum(rows[column] < 0.05) >= 2:
                expected[column].add(place)
    expected["p_value"] -= expected["q_value"]
    assert all(expected.values())
    for column, places in expected.items():
        line = line_named(axes, column)
        assert {*zip(line.get_ydata(), line.get_xdata(), strict=True)} == places


def test_the_histogram_counts_every_head_once():
    table = effects(ALL, 4, 5, (1, 2))
    figure = ablation_distribution(table, MAIN, LABEL)
    for task in ALL:
        axes = axes_named(figure, f"{task} deltas")
        drawn = (table["task"] == task) & (table["state"] == "finetuned")
        chosen = table[drawn & (table["metric"] == TASKS[task].metrics[0])]
        counts = {
            bars.get_label(): sum(round(bar.get_height()) for bar in bars)
            for bars in axes.containers
        }
        signs = np.sign(chosen["delta"])
        assert counts == {
            name: sum(signs == s) for name, s in (("hurt", -1), ("same", 0), ("help", 1))
        }
        assert axes.lines[0].get_xdata()[0] == pytest.approx(chosen["delta"].mean())
        text = "{hurt} hurt, {same} the same, {help} help".format(**counts)
        assert [part.get_text() for part in axes.texts] == [text]


def test_heads_are_in_order_with_their_intervals_and_what_survives_is_coloured():
    table, best = effects(["RTE"], 4, 5, (1, 2)), gains(["RTE"], (1, 2))
    figure = ablation_gains(table, RTE, LABEL, best=best)
    axes = axes_named(figure, "RTE heads")
    drawn = table[table["state"] == "finetuned"]
    parts = {
        "helped": drawn[(drawn["q_value"] < 0.05) & (drawn["delta"] > 0)],
        "hurt": drawn[(drawn["q_value"] < 0.05) & (drawn["delta"] < 0)],
    }
    parts["unsure"] = drawn[(drawn["q_value"] >= 0.05) | (drawn["delta"] == 0)]
    assert len(parts["helped"]) > 0
    points = []
    for label, rows in parts.items():
        line = line_named(axes, label)
        assert sorted(line.get_ydata()) == pytest.approx(sorted(rows["delta"]))
        points += zip(line.get_xdata(), line.get_ydata(), strict=True)
    ordered = sorted(points)
    assert [x for x, _ in ordered] == list(range(1, 41))
    assert [y for _, y in ordered] == sorted(drawn["delta"])
    (intervals,) = (part for part in axes.collections if isinstance(part, LineCollection))
    for (x, low), (_, high) in intervals.get_segments():
        delta = dict(points)[x]
        assert (low, high) == pytest.approx((delta - 0.4, delta + 0.5))


def test_the_best_stand_beside_with_and_without_bias_and_wholly_in_the_panel():
    best = gains(["RTE"], (1, 2))
    figure = ablation_gains(effects(["RTE"], 4, 5, (1, 2)), RTE, LABEL, best=best)
    axes = axes_named(figure, "RTE best")
    for kind in ("head", "layer"):
        for name, column in (("naive", "naive_gain"), ("unbiased", "unbiased_gain")):
            expected = best.loc[best["kind"] == kind, column].tolist()
            assert list(line_named(axes, f"{kind} {name}").get_ydata()) == expected
    low, high = axes.get_ylim()
    assert low < -1.5
    assert high > best["naive_gain"].max()


def test_every_order_is_a_line_with_its_interval_between_both_references():
    table = together(ALL, 36, (1, 2))
    figure = joint_ablation(table, MAIN, LABEL)
    for task in ALL:
        axes = axes_named(figure, task)
        assert line_named(axes, "intact").get_ydata()[0] == pytest.approx(81.5)
        assert line_named(axes, "chance").get_ydata()[0] == pytest.approx(50.0)
        assert len(axes.collections) == len(ORDERS)
        for order, band in zip(ORDERS, axes.collections, strict=True):
            line = line_named(axes, order)
            assert list(line.get_xdata()) == [1, 2, 4, 8, 16, 32, 36]
            corners = {tuple(corner) for corner in band.get_paths()[0].vertices.round(6)}
            for count, score in zip(line.get_xdata(), line.get_ydata(), strict=True):
                where = {"order": order, "heads": count}
                assert score == pytest.approx(mean(table, task, "score", **where))
                for end in ("ci_low", "ci_high"):
                    height = 81.5 + mean(table, task, end, **where)
                    assert (count, round(height, 6)) in corners


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_no_head_lies_outside_and_those_at_both_ends_are_named(seeds):
    table = effects(["RTE"], 4, 5, seeds)
    far = (table["layer"] == 2) & (table["head"] < 3)
    table.loc[far, ["delta", "ci_low", "ci_high"]] = [-60.0, -70.0, -50.0]
    table.loc[far & (table["seed"] == 1), "delta"] = -61.0
    figure = ablation_gains(table, RTE, LABEL, best=gains(["RTE"], seeds))
    axes = axes_named(figure, "RTE heads")
    low, high = axes.get_ylim()
    drawn = table[table["state"] == "finetuned"].sort_values("delta", kind="stable")
    assert low < drawn["ci_low"].min()
    assert high > drawn["ci_high"].max()
    points = np.concatenate([line.get_ydata() for line in axes.lines if line.get_marker() == "o"])
    assert sorted(points) == sorted(drawn["delta"])
    named = [text.get_text().replace("−", "-").split() for text in axes.texts]
    for rows, part in ((drawn.head(3)[::-1], named[:3]), (drawn.tail(3)[::-1], named[3:])):
        numbers = [float(words[-1]) for words in part]
        assert numbers == pytest.approx(rows["delta"].tolist(), abs=0.051)
        everywhere = set(
            zip(
                "L" + drawn["layer"].astype(str) + "H" + drawn["head"].astype(str),
                "s" + drawn["seed"].astype(str),
                drawn["delta"],
                strict=True,
            )
        )
        for words, number in zip(part, rows["delta"], strict=True):
            seed = words[1] if len(seeds) > 1 else "s1"
            assert (words[0], seed, number) in everywhere


def test_ticks_of_the_gains_are_round_numbers_on_both_sides_of_0():
    figure = ablation_gains(effects(["RTE"], 4, 5, (1,)), RTE, LABEL, best=gains(["RTE"], (1,)))
    axes = axes_named(figure, "RTE heads")
    FigureCanvasAgg(figure).draw()
    low, high = axes.get_ylim()
    ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
    assert 0 in ticks
    assert min(ticks) < 0 < max(ticks)
    assert {f"{abs(tick):e}"[0] for tick in ticks} <= set("0125")


@pytest.mark.parametrize(
    ("tasks", "shape"),
    [(ALL[:1], (12, 12, (1,))), (ALL[:3], (6, 12, (1,))), (ALL, (12, 12, (1, 2)))],
    ids=["1", "3", "7"],
)
@pytest.mark.parametrize("name", list(all_figures(["RTE"], 1, 1, (1,))))
def test_nothing_is_cut_off_and_no_labels_overlap(name, shape, tasks, recwarn):
    draw, table = all_figures(tasks, *shape)[name]
    canvas = FigureCanvasAgg(draw(table, metrics_of(draw, tasks), LABEL))
    canvas.draw()
    width, height = canvas.get_width_height()
    shown = [(text, text.get_window_extent(canvas.get_renderer())) for text in written(canvas)]
    for i, (text, box) in enumerate(shown):
        assert box.x0 >= -0.5, text
        assert box.y0 >= -0.5, text
        assert box.x1 <= width + 0.5, text
        assert box.y1 <= height + 0.5, text
        assert text.get_fontsize() >= 5, text
        for other, its_box in shown[:i]:
            both = min(box.x1, its_box.x1) - max(box.x0, its_box.x0) > 0.5
            assert not (both and min(box.y1, its_box.y1) - max(box.y0, its_box.y0) > 0.5), (
                f"{text} overlaps {other}"
            )
    assert not recwarn.list  # matplotlib warns when the layout does not fit
    assert any(LABEL in " ".join(text.get_text().split()) for text, _ in shown)


def written(canvas: FigureCanvasAgg) -> list[Text]:
    """Visible texts, without labels of ticks outside of the axes' limits."""
    hidden = set()
    for axes in canvas.figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for place, tick in zip(axis.get_majorticklocs(), axis.get_major_ticks(), strict=True):
                if not low - 1e-9 <= place <= high + 1e-9:
                    hidden |= {tick.label1, tick.label2}
    texts = [text for text in canvas.figure.findobj(Text) if text.get_text().strip()]
    return [text for text in texts if text.get_visible() and text not in hidden]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: t.drop(columns="metric"), "missing: metric"),
        (lambda t: t[t["task"] != "RTE"], "no accuracy of finetuned models for RTE"),
        (lambda t: t[t["state"] != "finetuned"], "no f1 of finetuned models for MRPC"),
    ],
    ids=["column", "task", "state"],
)
@pytest.mark.parametrize("name", list(all_figures(["RTE"], 1, 1, (1,))))
def test_a_table_with_holes_is_refused(
    spoil: Callable[[pd.DataFrame], pd.DataFrame], message: str, name: str
) -> None:
    draw, table = all_figures(["MRPC", "RTE"], 3, 2, (1,))[name]
    with pytest.raises(InputError, match=message):
        draw(spoil(table), metrics_of(draw, ["MRPC", "RTE"]), LABEL)


def test_scores_that_are_all_equal_are_drawn():
    table = effects(["RTE"], 2, 2, (1,)).assign(score=81.0, delta=0.0)
    for draw in (figure8, ablation_deltas, ablation_distribution):
        FigureCanvasAgg(draw(table, metrics_of(draw, ["RTE"]), LABEL)).draw()
    FigureCanvasAgg(figure9(of_layers(table), metrics_of(figure9, ["RTE"]), LABEL)).draw()


@pytest.mark.parametrize(("draw", "what"), [(figure8, "heads"), (figure9, "layers")])
def test_tasks_that_are_scored_by_f1_have_a_second_panel_of_accuracy(draw, what):
    table = effects(ALL, 3, 4, (1,))
    figure = draw(table if draw is figure8 else of_layers(table), metrics_of(draw, ALL), LABEL)
    panels = [axes for axes in figure.axes if axes.get_label().endswith(f" {what}")]
    titles = [" ".join(axes.get_title().split()) for axes in panels]
    assert titles[:3] == ["MRPC (F1)", "MRPC (Acc)", "STS-B (Pearson)"]
    assert [title for title in titles if title.startswith("QQP")] == ["QQP (F1)", "QQP (Acc)"]
    assert len(titles) == len(ALL) + 2
    mine = table.query("task == 'MRPC' and state == 'finetuned' and metric == 'accuracy'")
    if draw is figure9:
        mine = of_layers(mine)
    drawn = np.asarray(mesh_of(figure, f"MRPC accuracy {what}").get_array())
    expected = mine.sort_values([c for c in ("layer", "head") if c in mine])["score"]
    assert drawn.ravel() == pytest.approx(expected.to_numpy())


def agreements(tasks: list[str], *, diagonal: bool) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        {"state": state, "task": one, "other_task": other, "spearman": rng.uniform(-0.3, 0.9)}
        | {"q_value": 0.01, "q_within_layers": rng.choice([0.01, 0.6])}
        for state in ("finetuned", "pretrained")
        for number, one in enumerate(tasks)
        for other in tasks[number if diagonal else number + 1 :]
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=1)


@pytest.mark.parametrize("diagonal", [True, False])
def test_every_pair_of_tasks_has_a_cell_with_its_correlation(diagonal):
    table = agreements(ALL, diagonal=diagonal)
    figure = task_agreement(table, ALL, LABEL)
    axes = axes_named(figure, "tasks")
    values = np.asarray(axes.images[0].get_array())
    texts = {tuple(text.get_position()): text for text in axes.texts}
    for row in table[table["state"] == "finetuned"].to_dict("records"):
        x, y = ALL.index(row["task"]), ALL.index(row["other_task"])
        assert values[y, x] == pytest.approx(row["spearman"])
        beyond = row["q_within_layers"] < 0.05
        assert texts[x, y].get_text() == f"{row['spearman']:.2f}{'' if beyond else '*'}"
        assert (texts[x, y].get_weight() == "bold") == beyond
    assert len(axes.patches) == (0 if diagonal else len(ALL))
    assert np.isnan(values[np.triu_indices(len(ALL), 1)]).all()


@pytest.mark.parametrize("tasks", [ALL, ALL[:2]])
def test_nothing_is_cut_off_between_tasks(tasks, recwarn):
    canvas = FigureCanvasAgg(task_agreement(agreements(tasks, diagonal=True), tasks, LABEL))
    canvas.draw()
    width, height = canvas.get_width_height()
    for text in written(canvas):
        box = text.get_window_extent(canvas.get_renderer())
        assert min(box.x0, box.y0) >= -0.5, text
        assert box.x1 <= width + 0.5, text
        assert box.y1 <= height + 0.5, text
        assert text.get_fontsize() >= 5, text
    assert not recwarn.list


def test_without_anything_to_compare_the_figure_says_so():
    table = agreements(["RTE", "MRPC"], diagonal=True).iloc[:0]
    with pytest.raises(InputError, match="several tasks, or several seeds"):
        task_agreement(table, ["RTE"], LABEL)
