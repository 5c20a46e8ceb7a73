"""Figures of disabled heads and layers against the tables they are drawn from."""

from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from drawn import ALL, axes_named, cells_of, draw_with, line_named, marked, mesh_of
from glue import TASKS
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from darksecrets.ablation import (
    ablation_deltas,
    ablation_distribution,
    ablation_gains,
    figure8,
    figure9,
    joint_ablation,
    task_agreement,
)
from darksecrets.ablation.tables import ORDERS
from darksecrets.plotting import kit
from darksecrets.run.errors import InputError

MAIN = {task: TASKS[task].metrics[0] for task in ALL}


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


def of_layers(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["head"] == 1].drop(columns="head")


def drawn_rows(table: pd.DataFrame, task: str) -> pd.DataFrame:
    """The rows of a task that are drawn: of fine-tuned models, on its first metric."""
    chosen = (table["task"] == task) & (table["state"] == "finetuned")
    return table[chosen & (table["metric"] == MAIN[task])]


def panel(task: str, metric: str, what: str) -> str:
    title = {"f1": "F1", "accuracy": "Acc", "pearson": "Pearson"}[metric]
    return f"{task} ({title}) {what}"


@pytest.mark.parametrize("seeds", [(1,), (1, 2, 5)])
@pytest.mark.parametrize(("module", "value"), [(figure8, "score"), (ablation_deltas, "delta")])
def test_every_cell_is_the_mean_over_seeds_of_a_head(
    module: ModuleType, value: str, seeds: tuple[int, ...]
) -> None:
    table = effects(ALL, 3, 4, seeds)
    figure = draw_with(module.draw, ALL, table=table)
    for task in ALL:
        name = panel(task, MAIN[task], "heads") if module is figure8 else f"{task} heads"
        means = drawn_rows(table, task).groupby(["layer", "head"])[value].mean().unstack()
        np.testing.assert_allclose(cells_of(figure, name), means, atol=1e-9)


def test_figure_9_has_a_cell_a_number_and_the_intervals_of_every_layer_and_seed() -> None:
    table = of_layers(effects(["MRPC", "STS-B"], 12, 2, (1, 2, 5)))
    figure = draw_with(figure9.draw, ["MRPC", "STS-B"], table=table)
    for task in ("MRPC", "STS-B"):
        rows = drawn_rows(table, task)
        means = rows.groupby("layer")["score"].mean()
        name = panel(task, MAIN[task], "layers")
        np.testing.assert_allclose(cells_of(figure, name).ravel(), means)
        texts = [text.get_text() for text in axes_named(figure, name).texts]
        assert texts == [f"{value:.1f}" for value in means]
        axes = axes_named(figure, panel(task, MAIN[task], "intervals"))
        intervals = {
            (round(low[0], 6), round(high[0], 6), round(low[1]) + 1)
            for part in axes.collections
            for low, high in part.get_segments()
        }
        expected = rows[["ci_low", "ci_high", "layer"]].round(6).itertuples(index=False)
        assert intervals == set(map(tuple, expected))
        dots = {True: [], False: []}
        for line in axes.lines:
            if line.get_marker() == "o":
                places = zip(
                    line.get_xdata(), (round(y) + 1 for y in line.get_ydata()), strict=True
                )
                dots[line.get_markerfacecolor() != "white"] += places
        for filled, found in dots.items():
            sure = rows[(rows["q_value"] < 0.05) == filled]
            assert sorted(found) == sorted(zip(sure["delta"], sure["layer"], strict=True))
        assert axes.get_title() == f"intact: {rows['baseline'].mean():.1f}"


def test_the_baseline_is_marked_on_the_colour_bar() -> None:
    figure = draw_with(figure8.draw, ALL, table=effects(ALL, 3, 4, (1, 2)))
    bars = [axes for axes in figure.axes if axes.get_label() == "colour bar"]
    assert len(bars) == len(ALL) + 2, "tasks scored by F1 have a second panel"
    for bar in bars:
        (line,) = (line for line in bar.lines if to_hex(line.get_color()) == kit.BASELINE.lower())
        assert list(line.get_ydata()) == [81.5, 81.5]
        assert bar.get_title() == "81.5"


@pytest.mark.parametrize(("module", "what"), [(figure8, "heads"), (figure9, "layers")])
@pytest.mark.parametrize("size", [0.01, 8.0])
def test_colours_cover_all_scores_and_two_standard_errors_of_what_is_not_significant(
    module: ModuleType, what: str, size: float
) -> None:
    table = effects(["RTE"], 4, 5, (1, 2)).reset_index(drop=True)
    wide = size * (1 + table["layer"] / 4)
    table = table.assign(ci_low=table["delta"] - wide, ci_high=table["delta"] + wide / 2)
    table.loc[table["layer"] == 4, "q_value"] = 0.01  # the widest intervals
    table.loc[table["layer"] < 4, "q_value"] = 0.06
    table = table if module is figure8 else of_layers(table)
    figure = draw_with(module.draw, ["RTE"], table=table)
    low, high = mesh_of(axes_named(figure, panel("RTE", "accuracy", what))).get_clim()
    place = [name for name in ("layer", "head") if name in table]
    scores = drawn_rows(table, "RTE").groupby(place)["score"].mean()
    noise = 0.75 * size * (1 + 3 / 4)  # half of the interval of a head of layer 3
    assert low == pytest.approx(min(*scores, 81.5 - noise))
    assert high == pytest.approx(max(*scores, 81.5 + noise))


@pytest.mark.parametrize(("module", "what"), [(figure8, "heads"), (figure9, "layers")])
def test_marked_are_scores_that_differ_significantly_one_way_for_most_seeds(
    module: ModuleType, what: str
) -> None:
    table = effects(["RTE"], 6, 9, (1, 2, 3)).reset_index(drop=True)
    one_way = (table["layer"] == 2) & (table["head"] == 1)
    table.loc[one_way, ["delta", "q_value"]] = [-2.0, 0.001]
    both_ways = (table["layer"] == 3) & (table["head"] == 1)
    table.loc[both_ways, "q_value"] = 0.001
    table.loc[both_ways, "delta"] = table["seed"].map({1: 2.0, 2: -2.0, 3: 0.0})
    table = table if module is figure8 else of_layers(table)
    figure = draw_with(module.draw, ["RTE"], table=table)
    axes = axes_named(figure, panel("RTE", "accuracy", what))
    expected: dict[int, set[tuple[int, int]]] = {1: set(), -1: set()}
    rows = drawn_rows(table, "RTE").assign(head=table.get("head", 1))
    for place, of_head in rows.groupby(["layer", "head"]):
        for sign, found in expected.items():
            if sum((of_head["q_value"] < 0.05) & (of_head["delta"] * sign > 0)) >= 2:
                found.add(place)
    assert (2, 1) in expected[-1]
    assert (3, 1) not in expected[1] | expected[-1]
    for sign, places in expected.items():
        assert marked(axes, f"significant {sign}") == places


def test_differences_are_centred_on_0_and_an_outlier_does_not_stretch_the_scale() -> None:
    table = effects(ALL, 3, 5, (1,))
    table.loc[(table["layer"] == 2) & (table["head"] == 3), "delta"] = -40.0
    figure = draw_with(ablation_deltas.draw, ALL, table=table)
    for task in ALL:
        mesh = mesh_of(axes_named(figure, f"{task} heads"))
        assert mesh.norm.vmin == -mesh.norm.vmax
        sizes = np.abs(cells_of(figure, f"{task} heads"))
        assert np.mean(sizes <= mesh.norm.vmax / 2 + 1e-9) >= 11 / 15
        assert mesh.norm.vmax < 3
        assert mesh.colorbar.extend in ("min", "both")


def test_heads_are_marked_that_are_significant_for_more_than_half_of_the_seeds() -> None:
    table = effects(["RTE"], 6, 9, (1, 2, 3))
    axes = axes_named(draw_with(ablation_deltas.draw, ["RTE"], table=table), "RTE heads")
    sure = drawn_rows(table, "RTE").groupby(["layer", "head"])
    expected = {
        column: {place for place, rows in sure if sum(rows[column] < 0.05) >= 2}
        for column in ("q_value", "p_value")
    }
    expected["p_value"] -= expected["q_value"]
    assert all(expected.values())
    assert {column: marked(axes, column) for column in expected} == expected


def test_the_histogram_counts_every_head_once() -> None:
    table = effects(ALL, 4, 5, (1, 2))
    figure = draw_with(ablation_distribution.draw, ALL, table=table)
    for task in ALL:
        axes = axes_named(figure, f"{task} deltas")
        deltas = drawn_rows(table, task)["delta"]
        counts = [int((np.sign(deltas) == sign).sum()) for sign in (-1, 0, 1)]
        colours = [kit.HURT, kit.GREY, kit.HELPED]
        drawn = [
            sum(
                round(b.get_height())
                for b in axes.patches
                if to_hex(b.get_facecolor()) == c.lower()
            )
            for c in colours
        ]
        assert drawn == counts
        assert axes.lines[0].get_xdata()[0] == pytest.approx(deltas.mean())
        assert "{} hurt, {} the same, {} help".format(*counts) in axes.get_title()


def test_heads_are_in_order_with_their_intervals_and_what_survives_is_coloured() -> None:
    table, best = effects(["RTE"], 4, 5, (1, 2)), gains(["RTE"], (1, 2))
    figure = draw_with(ablation_gains.draw, ["RTE"], table=table, best=best)
    axes, rows = axes_named(figure, "RTE heads"), drawn_rows(table, "RTE")
    sure = (rows["q_value"] < 0.05) & (rows["delta"] != 0)
    parts = {"helped": sure & (rows["delta"] > 0), "hurt": sure & (rows["delta"] < 0)}
    points = []
    for label, chosen in (parts | {"unsure": ~sure}).items():
        line = line_named(axes, label)
        assert sorted(line.get_ydata()) == pytest.approx(sorted(rows.loc[chosen, "delta"]))
        points += zip(line.get_xdata(), line.get_ydata(), strict=True)
    assert [x for x, _ in sorted(points)] == list(range(1, 41))
    assert [y for _, y in sorted(points)] == sorted(rows["delta"])
    (intervals,) = (part for part in axes.collections if isinstance(part, LineCollection))
    for (x, low), (_, high) in intervals.get_segments():
        delta = dict(points)[x]
        assert (low, high) == pytest.approx((delta - 0.4, delta + 0.5))


def test_the_best_stand_beside_with_and_without_bias_and_wholly_in_the_panel() -> None:
    best = gains(["RTE"], (1, 2))
    table = effects(["RTE"], 4, 5, (1, 2))
    axes = axes_named(draw_with(ablation_gains.draw, ["RTE"], table=table, best=best), "RTE best")
    for name in ("naive_gain", "unbiased_gain"):
        line = line_named(axes, name)
        assert sorted(line.get_ydata()) == sorted(best[name])
        assert sorted(np.round(line.get_xdata() + 0.01).astype(int)) == [0, 0, 1, 1]
    low, high = axes.get_ylim()
    assert low < -1.5
    assert high > best["naive_gain"].max()


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_no_head_lies_outside_and_those_at_both_ends_are_named(seeds: tuple[int, ...]) -> None:
    table = effects(["RTE"], 4, 5, seeds)
    far = (table["layer"] == 2) & (table["head"] < 3)
    table.loc[far, ["delta", "ci_low", "ci_high"]] = [-60.0, -70.0, -50.0]
    table.loc[far & (table["seed"] == 1), "delta"] = -61.0
    figure = draw_with(ablation_gains.draw, ["RTE"], table=table, best=gains(["RTE"], seeds))
    axes = axes_named(figure, "RTE heads")
    low, high = axes.get_ylim()
    rows = drawn_rows(table, "RTE").sort_values("delta", kind="stable")
    assert low < rows["ci_low"].min()
    assert high > rows["ci_high"].max()
    named = [text.get_text().replace("−", "-").split() for text in axes.texts]
    for part, words in ((rows.head(3)[::-1], named[:3]), (rows.tail(3)[::-1], named[3:])):
        numbers = [float(each[-1]) for each in words]
        assert numbers == pytest.approx(part["delta"].tolist(), abs=0.051)
        for each, delta in zip(words, part["delta"], strict=True):
            same = rows[rows["delta"] == delta]
            names = "L" + same["layer"].astype(str) + "H" + same["head"].astype(str)
            names += " s" + same["seed"].astype(str) if len(seeds) > 1 else ""
            assert " ".join(each[:-1]) in set(names)
    FigureCanvasAgg(figure).draw()
    ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
    assert min(ticks) < 0 <= max(ticks)
    assert 0 in ticks
    assert {f"{abs(tick):e}"[0] for tick in ticks} <= set("0125"), "round numbers"


def test_every_order_is_a_line_with_its_interval_between_both_references() -> None:
    rng, counts = np.random.default_rng(3), [1, 2, 4, 8, 16, 32, 36]
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": MAIN[task], "order": order}
        | {"heads": count, "baseline": 80.0 + seed, "score": 80.0 + seed + delta, "chance": 50.0}
        | {"ci_low": delta - 4, "ci_high": delta + 5}
        for task in ALL[1:]
        for seed in (1, 2)
        for order in ORDERS
        for count in counts
        for delta in [-30 * rng.random()]
    ]
    table = pd.DataFrame(rows)
    figure = draw_with(joint_ablation.draw, ALL, table=table)
    assert [axes.get_label() for axes in figure.axes] == ALL[1:], "the tasks that the table has"
    for task in ALL[1:]:
        axes = axes_named(figure, task)
        assert line_named(axes, "intact").get_ydata()[0] == pytest.approx(81.5)
        assert line_named(axes, "chance").get_ydata()[0] == pytest.approx(50.0)
        means = table[table["task"] == task].groupby(["order", "heads"]).mean(numeric_only=True)
        for order, band in zip(ORDERS, axes.collections, strict=True):
            line = line_named(axes, order)
            assert list(line.get_xdata()) == counts
            np.testing.assert_allclose(line.get_ydata(), means.loc[order, "score"])
            corners = band.get_paths()[0].vertices.round(6).tolist()
            for end in ("ci_low", "ci_high"):
                for count, height in (81.5 + means.loc[order, end]).items():
                    assert [count, round(height, 6)] in corners


@pytest.mark.parametrize("module", [figure8, ablation_deltas, ablation_distribution])
def test_a_task_without_rows_is_named(module: ModuleType) -> None:
    table = effects(["MRPC", "RTE"], 3, 2, (1,))
    with pytest.raises(InputError, match="task RTE, state finetuned, metric accuracy"):
        draw_with(module.draw, ["MRPC", "RTE"], table=table[table["task"] != "RTE"])
    other = table[table["state"] != "finetuned"]
    with pytest.raises(InputError, match="task MRPC, state finetuned, metric f1"):
        draw_with(module.draw, ["MRPC", "RTE"], table=other)


def test_scores_that_are_all_equal_are_drawn() -> None:
    table = effects(["RTE"], 2, 2, (1,)).assign(score=81.0, delta=0.0)
    for module in (figure8, ablation_deltas, ablation_distribution):
        FigureCanvasAgg(draw_with(module.draw, ["RTE"], table=table)).draw()
    FigureCanvasAgg(draw_with(figure9.draw, ["RTE"], table=of_layers(table))).draw()


@pytest.mark.parametrize("diagonal", [True, False])
def test_every_pair_of_tasks_has_a_cell_with_its_correlation(diagonal: bool) -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"state": state, "task": one, "other_task": other, "spearman": rng.uniform(-0.3, 0.9)}
        | {"q_value": 0.01, "q_within_layers": rng.choice([0.01, 0.6])}
        for state in ("finetuned", "pretrained")
        for number, one in enumerate(ALL)
        for other in ALL[number if diagonal else number + 1 :]
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=1)
    figure = draw_with(task_agreement.draw, ALL, table=table)
    values = cells_of(figure, "tasks")
    texts = {
        tuple(np.subtract(text.get_position(), 0.5)): text
        for text in axes_named(figure, "tasks").texts
    }
    for row in table[table["state"] == "finetuned"].to_dict("records"):
        x, y = ALL.index(row["task"]), ALL.index(row["other_task"])
        assert values[y, x] == pytest.approx(row["spearman"])
        beyond = row["q_within_layers"] < 0.05
        assert texts[x, y].get_text() == f"{row['spearman']:.2f}{'' if beyond else '*'}"
        assert (texts[x, y].get_weight() == "bold") == beyond
    assert np.isnan(values[np.triu_indices(len(ALL), 0 if not diagonal else 1)]).all()
    with pytest.raises(InputError, match="no rows with state finetuned"):
        draw_with(task_agreement.draw, ["RTE"], table=table.iloc[:0])
