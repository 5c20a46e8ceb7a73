"""The shapes of figures against what they draw, read back from the drawn objects."""

import numpy as np
import pandas as pd
import pytest
from drawn import check_layout
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from darksecrets.core.plotting import kit
from darksecrets.core.plotting.drawing import Given
from darksecrets.core.run.errors import InputError


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


def test_rows_that_a_table_lacks_are_named() -> None:
    table = pd.DataFrame({"task": ["RTE"], "layer": [1]})
    assert len(kit.pick(table, task=["RTE", "MRPC"], layer=1)) == 1
    table.attrs["file"] = "some.csv"
    with pytest.raises(InputError, match=r"some\.csv has no rows with task MRPC, layer 1"):
        kit.pick(table, task="MRPC", layer=1)


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
