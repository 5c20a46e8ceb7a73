"""Figures against the tables they are drawn from, read back from the drawn objects."""

import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn import ALL, LABEL, axes_named, main_metrics, mesh_of, written
from glue import TASKS
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from darksecrets.finetuning.figure5 import figure5
from darksecrets.finetuning.learning_curves import learning_curves
from darksecrets.plotting import style
from darksecrets.plotting.style import label_run, new_figure, save
from darksecrets.run.errors import InputError


def similarities(
    tasks: list[str], layers: int, heads: int, seeds: tuple[int, ...] = (1, 2)
) -> pd.DataFrame:
    random = np.random.default_rng(5)
    rows = [
        (task, seed, layer, head, random.uniform(0.1, 1))
        for task in tasks
        for seed in seeds
        for layer in range(1, layers + 1)
        for head in range(1, heads + 1)
    ]
    table = pd.DataFrame(rows, columns=["task", "seed", "layer", "head", "similarity"])
    table["other_heads"] = table["similarity"] / 2
    table["other_seed"] = np.sqrt(table["similarity"]) if len(seeds) > 1 else np.nan
    return table.sample(frac=1, random_state=5)  # the order of rows must not matter


def curves(tasks: list[str], seeds: tuple[int, ...]) -> pd.DataFrame:
    random = np.random.default_rng(6)
    rows = []
    for task in tasks:
        for state in ("finetuned", "finetuned-from-normal"):
            for seed in seeds:
                run = (task, state, seed)
                rows += [
                    (*run, s, s / 10, "train", "loss", random.uniform()) for s in range(5, 35, 5)
                ]
                for epoch in (1, 2, 3):
                    at = (*run, 10 * epoch, float(epoch), "validation")
                    for metric in ("loss", *TASKS[task].metrics):
                        rows.append((*at, metric, random.uniform(40, 90)))
    columns = ["task", "state", "seed", "step", "epoch", "split", "quantity", "value"]
    return pd.DataFrame(rows, columns=columns)


def baselines(tasks: Iterable[str]) -> pd.DataFrame:
    """The majority's score of every metric of some tasks: 50 and more."""
    rows = [
        (task, "majority", metric, 50.0 + number)
        for task in tasks
        for number, metric in enumerate(TASKS[task].metrics)
    ]
    return pd.DataFrame(rows, columns=["task", "baseline", "metric", "score"])


def mean_of_seeds(table: pd.DataFrame, task: str) -> dict[tuple[int, int], float]:
    found = defaultdict(list)
    for row in table[table["task"] == task].itertuples():
        found[row.layer, row.head].append(row.similarity)
    return {key: statistics.fmean(values) for key, values in found.items()}


@pytest.mark.parametrize(("layers", "heads"), [(6, 6), (12, 12), (24, 16)])
def test_every_cell_holds_the_mean_over_seeds_of_its_head(layers: int, heads: int) -> None:
    table = similarities(ALL, layers, heads)
    figure = figure5(table, ALL, LABEL)
    for task in ALL:
        axes = axes_named(figure, f"{task} heads")
        mesh = mesh_of(axes)
        corners = mesh.get_coordinates()
        expected = mean_of_seeds(table, task)
        for row, column in np.ndindex(layers, heads):
            x, y = (corners[row, column] + corners[row + 1, column + 1]) / 2
            value = mesh.get_array()[row, column]
            assert value == pytest.approx(expected[round(y), round(x)], abs=1e-12)
        assert axes.get_title() == task


def test_layer_1_is_at_the_top_and_head_1_at_the_left_as_in_the_paper() -> None:
    figure = figure5(similarities(ALL, 12, 12), ALL, LABEL)
    to_page = axes_named(figure, "QQP heads").transData
    left, top = to_page.transform((1, 1))
    right, bottom = to_page.transform((12, 12))
    assert left < right
    assert top > bottom


@pytest.mark.parametrize(
    ("lowest", "full", "start"),
    [(0.634, False, 0.6), (0.999, False, 0.95), (1.0, False, 0.95), (0.634, True, 0.0)],
)
def test_darker_means_a_greater_difference_on_one_scale_for_all_panels(
    lowest: float, full: bool, start: float
) -> None:
    table = similarities(ALL, 6, 6)
    table["similarity"] = table["similarity"].clip(lowest)
    table.loc[(table["task"] == "QQP") & (table["layer"] == 3), "similarity"] = lowest
    figure = figure5(table, ALL, LABEL, full_scale=full)
    meshes = [mesh_of(axes_named(figure, f"{task} heads")) for task in ALL]
    assert {mesh.get_clim() for mesh in meshes} == {meshes[0].get_clim()}
    assert meshes[0].get_clim() == pytest.approx((start, 1))
    for mesh in meshes:
        colours = mesh.cmap(mesh.norm(np.linspace(start, 1, 50)))[:, :3]
        luminance = colours @ [0.2126, 0.7152, 0.0722]
        assert (np.diff(luminance) > 0).all()
    assert "darker = greater difference" in axes_named(figure, "colour bar").get_xlabel()


@pytest.mark.parametrize("full", [False, True])
def test_floors_are_marked_on_the_colour_bar_or_said_to_lie_below_it(full: bool) -> None:
    table = similarities(["MRPC", "RTE"], 4, 3)
    table["similarity"] = table["similarity"].clip(0.8)
    table["other_heads"] = np.where(table["task"] == "RTE", 0.3, 0.4)
    table["other_seed"] = 0.9
    bar = axes_named(figure5(table, ["MRPC", "RTE"], LABEL, full_scale=full), "colour bar")
    drawn = [pytest.approx(line.get_xdata()[0]) for line in bar.lines]
    assert drawn == ([0.35, 0.9] if full else [0.9])
    assert ("different heads: 0.35, below the scale" in bar.get_xlabel()) == (not full)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, [1]),
        (6, [1, 2, 3, 4, 5, 6]),
        (12, [1, 3, 6, 9, 12]),
        (16, [1, 4, 8, 12, 16]),
        (24, [1, 6, 12, 18, 24]),
    ],
)
def test_ticks_count_from_one_and_end_at_the_last(count: int, expected: list[int]) -> None:
    assert style.ticks(count) == expected


def test_axes_are_named_and_numbered_from_one() -> None:
    figure = figure5(similarities(["RTE"], 24, 16), ["RTE"], LABEL)
    axes = axes_named(figure, "RTE heads")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Head", "Layer")
    FigureCanvasAgg(figure).draw()
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "4", "8", "12", "16"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["1", "6", "12", "18", "24"]


def test_the_mean_and_spread_of_every_layer_are_beside_each_panel() -> None:
    table = similarities(["MRPC", "RTE"], 6, 4)
    figure = figure5(table, ["MRPC", "RTE"], LABEL)
    for task in ("MRPC", "RTE"):
        axes = axes_named(figure, f"{task} layers")
        cells = mean_of_seeds(table, task)
        layers = [[cells[layer, head] for head in range(1, 5)] for layer in range(1, 7)]
        means = [statistics.fmean(values) for values in layers]
        spreads = [statistics.stdev(values) for values in layers]
        line = axes.lines[0]
        np.testing.assert_allclose(line.get_xdata(), means, atol=1e-12)
        assert list(line.get_ydata()) == [1, 2, 3, 4, 5, 6]
        band = {tuple(np.round(v, 9)) for v in axes.collections[0].get_paths()[0].vertices}
        for layer, (mean, spread) in enumerate(zip(means, spreads, strict=True), start=1):
            assert (round(mean - spread, 9), layer) in band
            assert (round(mean + spread, 9), layer) in band


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_the_floors_of_every_layer_are_beside_each_panel(seeds: tuple[int, ...]) -> None:
    table = similarities(["MRPC", "RTE"], 6, 4, seeds)
    figure = figure5(table, ["MRPC", "RTE"], LABEL)
    floors = ["other_heads", "other_seed"][: len(seeds)]
    for task in ("MRPC", "RTE"):
        rows = table[table["task"] == task]
        lines = axes_named(figure, f"{task} layers").lines[1:]
        for name, line in zip(floors, lines, strict=True):
            expected = [rows.loc[rows["layer"] == layer, name].mean() for layer in range(1, 7)]
            np.testing.assert_allclose(line.get_xdata(), expected, atol=1e-12)
            assert list(line.get_ydata()) == [1, 2, 3, 4, 5, 6]
    (legend,) = figure.legends
    named = [text.get_text() for text in legend.get_texts()]
    assert named == ["before and after", "different heads", "two seeds"][: 1 + len(seeds)]


def test_only_the_finetuned_state_is_drawn() -> None:
    table = similarities(["RTE"], 2, 2).assign(state="finetuned")
    other = table.assign(state="finetuned-from-normal", similarity=0.0)
    figure = figure5(pd.concat([table, other]), ["RTE"], LABEL)
    alone = figure5(table, ["RTE"], LABEL)
    drawn, expected = (mesh_of(axes_named(f, "RTE heads")).get_array() for f in (figure, alone))
    assert (drawn == expected).all()


@pytest.mark.parametrize("tasks", [ALL[:n] for n in range(1, 8)], ids=len)
@pytest.mark.parametrize("draw", ["figure5", "learning_curves"])
def test_nothing_is_cut_off_and_no_labels_overlap(
    tasks: list[str], draw: str, recwarn: pytest.WarningsRecorder
) -> None:
    if draw == "figure5":
        figure = figure5(similarities(tasks, 12, 12), tasks, LABEL)
    else:
        figure = learning_curves(
            curves(tasks, (1, 2)), main_metrics(tasks), LABEL, baselines=baselines(tasks)
        )
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    shown = []
    for text in written(figure):
        box = text.get_window_extent(canvas.get_renderer())
        assert box.x0 >= -0.5, text
        assert box.y0 >= -0.5, text
        assert box.x1 <= width + 0.5, text
        assert box.y1 <= height + 0.5, text
        shown.append((text, box))
    for i, (text, box) in enumerate(shown):
        for other, its_box in shown[:i]:
            both = (min(box.x1, its_box.x1) - max(box.x0, its_box.x0)) > 0.5
            assert not (both and min(box.y1, its_box.y1) - max(box.y0, its_box.y0) > 0.5), (
                f"{text} overlaps {other}"
            )
    assert not recwarn.list  # matplotlib warns when the layout does not fit


def test_the_run_and_its_data_are_named_at_the_foot() -> None:
    figure = figure5(similarities(["RTE"], 2, 2), ["RTE"], LABEL)
    assert " ".join(figure.get_supxlabel().split()) == LABEL


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: t.drop(columns="head"), "missing: head"),
        (lambda t: t[t["task"] != "RTE"], "no rows for RTE"),
        (lambda t: t[~((t["task"] == "RTE") & (t["layer"] == 2))], "layers \\[1, 3\\]"),
        (lambda t: t[~((t["layer"] == 3) & (t["head"] == 1))], "5 values"),
        (lambda t: t.assign(layer=t["layer"] - 1), "counted from 1"),
    ],
    ids=["column", "task", "layer", "head", "zero-based"],
)
def test_a_table_with_holes_is_refused(
    spoil: Callable[[pd.DataFrame], pd.DataFrame], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        figure5(spoil(similarities(["MRPC", "RTE"], 3, 2)), ["MRPC", "RTE"], LABEL)


@pytest.mark.parametrize("seeds", [(1,), (1, 2, 3)])
def test_learning_curves_are_those_of_the_table(seeds: tuple[int, ...]) -> None:
    table = curves(["MRPC", "STS-B"], seeds)
    tasks = ["MRPC", "STS-B"]
    figure = learning_curves(table, main_metrics(tasks), LABEL, baselines=baselines(tasks))
    for task, metric in (("MRPC", "f1"), ("STS-B", "pearson")):
        for name, split, quantity in (
            (f"{task} loss", "train", "loss"),
            (f"{task} {metric}", "validation", metric),
        ):
            drawn = [
                (line.get_color(), list(line.get_xdata()), pytest.approx(list(line.get_ydata())))
                for line in axes_named(figure, name).lines
                if line.get_label() != "majority"
            ]
            expected = []
            for state in ("finetuned-from-normal", "finetuned"):
                values = defaultdict(dict)
                for row in table.itertuples():
                    if (row.task, row.state, row.split, row.quantity) == (
                        task,
                        state,
                        split,
                        quantity,
                    ):
                        values[row.seed][row.epoch] = row.value
                epochs = sorted(values[1])
                lines = [[values[seed][epoch] for epoch in epochs] for seed in seeds]
                if len(seeds) > 1:
                    lines.append([statistics.fmean(at) for at in zip(*lines, strict=True)])
                expected += [(style.STATES[state], epochs, line) for line in lines]
            assert len(drawn) == len(expected)
            assert all(line in drawn for line in expected)


def test_learning_curves_without_a_task_are_refused() -> None:
    tasks = main_metrics(["MRPC", "RTE"])
    with pytest.raises(InputError, match="no train loss of RTE"):
        learning_curves(curves(["MRPC"], (1,)), tasks, LABEL, baselines=baselines(tasks))


def test_the_score_of_the_majority_is_a_line_if_there_is_one() -> None:
    tasks = ["MRPC", "RTE"]
    known = baselines(tasks).replace({"task": {"RTE": "other"}})
    figure = learning_curves(curves(tasks, (1,)), main_metrics(tasks), LABEL, baselines=known)
    found = {
        axes.get_label(): line.get_ydata()[0]
        for axes in figure.axes
        for line in axes.lines
        if line.get_label() == "majority"
    }
    assert found == {"MRPC f1": 50.0}


def test_states_have_colours_that_differ_in_luminance_too() -> None:
    channels = [
        [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in style.STATES.values()
    ]
    luminance = sorted(np.array(channels) @ [0.2126, 0.7152, 0.0722])
    assert min(np.diff(luminance)) > 0.05


PROGRAM = """
import sys
from pathlib import Path
import pandas as pd
from darksecrets.finetuning import table1
from darksecrets.finetuning.figure5 import figure5
from darksecrets.finetuning.learning_curves import learning_curves
from darksecrets.plotting.style import save
folder = Path(sys.argv[1])
figure = figure5(pd.read_csv(folder / "table.csv"), ["RTE"], sys.argv[2])
save(figure, [folder / f"f.{s}" for s in ("pdf", "svg", "png")],
     script="scripts/figure5.py", title=f"Figure 5, {sys.argv[2]}")
heavy = {"torch", "transformers", "datasets", "sklearn", "tensorflow"} & set(sys.modules)
sys.exit(f"loaded {heavy}" if heavy else 0)
"""


def draw_elsewhere(folder: Path, root: Path) -> None:
    """Draw in a fresh process, with different hashes, ids and time."""
    folder.mkdir()
    similarities(["RTE"], 6, 6).to_csv(folder / "table.csv", index=False)
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), LABEL], cwd=root, check=True, timeout=120
    )


def test_drawing_loads_no_heavy_library_and_gives_the_same_bytes_again(
    tmp_path: Path, root: Path
) -> None:
    draw_elsewhere(tmp_path / "first", root)
    draw_elsewhere(tmp_path / "second", root)
    for suffix in ("pdf", "svg", "png"):
        first, second = (tmp_path / name / f"f.{suffix}" for name in ("first", "second"))
        assert first.read_bytes() == second.read_bytes(), suffix
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == [
        "f.pdf",
        "f.png",
        "f.svg",
        "table.csv",
    ]


def test_files_are_whole_and_name_the_script_and_the_run(tmp_path: Path) -> None:
    paths = [tmp_path / f"f.{suffix}" for suffix in ("pdf", "svg", "png")]
    figure = figure5(similarities(["RTE"], 6, 6), ["RTE"], LABEL)
    style.save(figure, paths, script="scripts/figure5.py", title=f"Figure 5, {LABEL}")
    pdf, svg, png = paths
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert b"scripts/figure5.py" in pdf.read_bytes()
    assert b"CreationDate" not in pdf.read_bytes()
    text = svg.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</svg>")
    assert "scripts/figure5.py" in text
    assert LABEL in text
    assert "<dc:date>" not in text
    with Image.open(png) as image:
        image.load()
        assert image.info["Title"] == f"Figure 5, {LABEL}"
        assert "scripts/figure5.py" in image.info["Creator"]
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert image.width == round(style.COLUMN * 300)


def test_an_unknown_format_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    figure = figure5(similarities(["RTE"], 2, 2), ["RTE"], LABEL)
    with pytest.raises(InputError, match=r"\.jpg"):
        style.save(figure, [tmp_path / "f.jpg"], script="s", title="d")
    assert not list(Path(tmp_path).iterdir())


def test_positions_have_few_digits(tmp_path):
    """The last ones of the layout's solver differ from process to process."""
    figure = new_figure(width=3, height=2)
    for axes in figure.subplots(2, 3).flat:
        axes.set_title("panel")
    figure.suptitle("all")
    label_run(figure, "run")
    save(figure, [tmp_path / "figure.svg"], script="test", title="positions")
    places = [axes.get_position().bounds for axes in figure.axes]
    places += [text.get_position() for text in figure.texts]
    assert len(places) == 8
    assert all(
        each == pytest.approx(round(each, 6), abs=1e-15) for place in places for each in place
    )
    assert len({place[:2] for place in places}) == 8
