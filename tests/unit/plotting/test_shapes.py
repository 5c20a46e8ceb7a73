"""The shapes of figures against what they draw, read back from the drawn objects."""

import numpy as np
import pandas as pd
import pytest
from drawn import check_layout, labels
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from darksecrets.plotting import kit
from darksecrets.plotting.drawing import Given
from darksecrets.run.errors import InputError


@pytest.fixture
def axes() -> Axes:
    return Figure().add_subplot()


def heads(layers: int, count: int, seeds: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = [
        {"layer": layer, "head": head, "seed": seed, "value": rng.random()}
        for seed in range(seeds)
        for layer in range(1, layers + 1)
        for head in range(1, count + 1)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=2)


@pytest.mark.parametrize(("layers", "count"), [(1, 1), (6, 6), (12, 12), (24, 16)])
def test_every_cell_holds_the_mean_of_its_head_layer_1_at_the_top_head_1_at_the_left(
    axes: Axes, layers: int, count: int
) -> None:
    rows = heads(layers, count, seeds=2)
    mesh = kit.matrix(axes, kit.grid(rows, "value"), kit.WEIGHT, 1, 0)
    means = rows.groupby(["layer", "head"])["value"].mean()
    corners, values = mesh.get_coordinates(), np.asarray(mesh.get_array())
    for layer, head in np.ndindex(layers, count):
        x, y = (corners[layer, head] + corners[layer + 1, head + 1]) / 2
        assert (x, y) == (head + 0.5, layer + 0.5)
        assert values[layer, head] == pytest.approx(means[layer + 1, head + 1])
    top, bottom = (axes.transData.transform((0.5, layer - 0.5)) for layer in (1, layers + 1))
    assert top[1] > bottom[1]
    numbers = [int(label.get_text()) for label in axes.get_yticklabels()]
    assert numbers == kit.ticks(layers, 6)
    assert list(axes.get_yticks()) == [number - 0.5 for number in numbers]


@pytest.mark.parametrize("cmap", [kit.WEIGHT, kit.SCORE, kit.MAP, kit.SIMILARITY])
def test_darker_is_greater_or_for_similarities_more_different(axes: Axes, cmap: str) -> None:
    mesh = kit.matrix(axes, kit.grid(heads(3, 3), "value"), cmap, 1, 0)
    colours = mesh.cmap(mesh.norm(np.linspace(0, 1, 50)))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(colours) * (-1 if cmap != kit.SIMILARITY else 1) > 0).all()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: t[t["layer"] != 2], r"layers \[1, 3\]"),
        (lambda t: t[(t["layer"] != 3) | (t["head"] != 1)], "5 values"),
        (lambda t: t.assign(layer=t["layer"] - 1), "counted from 1"),
        (lambda t: t[:0], "0 values"),
    ],
)
def test_a_grid_with_holes_is_refused(spoil, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kit.grid(spoil(heads(3, 2)), "value")


def test_lines_are_means_at_each_place_with_the_means_of_their_intervals(axes: Axes) -> None:
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(
        [
            {"kind": kind, "layer": layer, "seed": seed, "value": rng.random()}
            for kind in ("a", "b", "not drawn")
            for seed in (1, 2)
            for layer in (3, 1, 2)
        ]
    ).assign(low=lambda t: t["value"] - 0.1, high=lambda t: t["value"] + 0.3)
    looks = {"b": kit.line(kit.BLUE, "o"), "a": kit.line(kit.GREEN, dash="--"), "c": {"color": "r"}}
    kit.lines(axes, rows, "layer", "value", looks, by="kind", ends=("low", "high"))
    assert [line.get_label() for line in axes.lines] == ["b", "a"]
    for line, band in zip(axes.lines, axes.collections, strict=True):
        own = rows[rows["kind"] == line.get_label()].groupby("layer")
        assert line.get_xdata().tolist() == [1, 2, 3]
        np.testing.assert_allclose(line.get_ydata(), own["value"].mean())
        assert line.get_color() == looks[line.get_label()]["color"]
        corners = band.get_paths()[0].vertices.round(9).tolist()
        for end in ("low", "high"):
            for layer, value in own[end].mean().items():
                assert [layer, round(value, 9)] in corners
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--"]


@pytest.mark.parametrize("upright", [False, True])
def test_dots_stand_at_their_names_with_their_intervals_hollow_if_unsure(
    axes: Axes, upright: bool
) -> None:
    rows = pd.DataFrame(
        {
            "name": ["y", "x", "y", "z"],
            "kind": ["b", "a", "a", "a"],
            "value": [1.0, 2.0, 3.0, 9.0],
            "low": [0.5, 1.5, 2.0, 8.0],
            "high": [1.5, np.nan, 4.0, 10.0],
            "sure": [True, True, False, True],
        }
    )
    looks = {"a": kit.dot(kit.BLUE), "b": kit.dot(kit.INK, "s")}
    where = {"at": "name", "places": {"x": "Ex", "y": "Why"}, "by": "kind", "spread": ["kind"]}
    ends = ("low", "high")
    kit.intervals(axes, rows, "value", looks, ends=ends, sure="sure", upright=upright, **where)
    names = labels(axes.get_xticklabels() if upright else axes.get_yticklabels())
    assert names == ["Ex", "Why"]
    across = slice(None, None, -1) if upright else slice(None)
    drawn = {
        (str(line.get_label()), *place[across]): line.get_markerfacecolor() != "white"
        for line in axes.lines
        for place in line.get_xydata().tolist()
    }
    assert drawn == {("a", 2, -0.125): True, ("a", 3, 0.875): False, ("b", 1, 1.125): True}
    shown = {
        tuple(np.reshape(segment, (-1, 2))[:, across].ravel().tolist())
        for part in axes.collections
        if isinstance(part, LineCollection)
        for segment in part.get_segments()
    }
    assert {(2.0, 0.875, 4.0, 0.875), (0.5, 1.125, 1.5, 1.125)} <= shown
    assert axes.yaxis_inverted() != upright, "the first name is at the top, or at the left"


def test_shares_are_stacked_from_the_last_kind_and_large_ones_are_written(axes: Axes) -> None:
    colours = {"a": kit.BLUE, "b": "#FFFFFF"}
    rows = pd.DataFrame(
        [
            {"task": task, "state": state, "seed": seed, "kind": kind, "share": share}
            for task in ("T", "U")
            for state in ("s", "t")
            for seed in (1, 2)
            for kind, share in (("a", 0.1 * seed), ("b", 1 - 0.1 * seed))
        ]
    )
    places = kit.bars_of(["T", "U"], ["s", "t"])
    kit.shares(axes, rows, "share", "kind", colours, places, written=0.5)
    bars = sorted(
        (round(b.get_y() + b.get_height() / 2, 6), round(b.get_x(), 6), round(b.get_width(), 6))
        for b in axes.patches
        if b.get_width()
    )
    expected = [(y, x, w) for y in places.values() for x, w in ((0.0, 0.85), (0.85, 0.15))]
    assert bars == sorted(expected)
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["85"] * 4
    assert set(labels(axes.get_yticklabels())) == {"T", "U", "s", "t"}


def test_rows_that_a_table_lacks_are_named() -> None:
    table = pd.DataFrame({"task": ["RTE"], "layer": [1]})
    assert len(kit.pick(table, task=["RTE", "MRPC"], layer=1)) == 1
    table.attrs["file"] = "some.csv"
    with pytest.raises(InputError, match=r"some\.csv has no rows with task MRPC, layer 1"):
        kit.pick(table, task="MRPC", layer=1)


def test_colours_of_states_differ_in_luminance_too() -> None:
    codes = [[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in kit.STATES.values()]
    assert min(np.diff(sorted(np.array(codes) @ [0.2126, 0.7152, 0.0722]))) > 0.05


def test_texts_of_a_page_are_whole_and_apart() -> None:
    def panel(axes: Axes, task: str, kind: str) -> kit.QuadMesh:
        return kit.matrix(axes, kit.grid(heads(3, 2), "value"), kit.WEIGHT, 1, 0)

    bar = kit.Bar("weight", {0.5: kit.line(kit.INK)})
    panels = kit.rows(panel, {"k": "K", "l": "L"}, "Head", "{}\nLayer", bar=bar)
    sources = Given({f"task {number}": ["accuracy"] for number in range(5)}, "run x")
    legend = {"a line": kit.line(kit.BLUE), "a colour": kit.GREEN}
    figure = kit.page(sources, "What is shown", panels, most=3, legend=legend, note=", noted")
    assert figure.get_supxlabel() == "run x, noted"
    assert len([axes for axes in figure.axes if axes.get_label() == "colour bar"]) == 2
    check_layout(figure)
