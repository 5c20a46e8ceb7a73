"""Figures 3 and 4 against what they are drawn from, read back from the drawn objects."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn import axes_named, cells_of, draw_with, mesh_of
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from darksecrets.framenet import figure3, figure4
from darksecrets.framenet.example import Example
from darksecrets.framenet.figure3 import PANELS, exceeds_both
from darksecrets.framenet.figure4 import choose
from darksecrets.framenet.links import Annotation, Element, to_table
from darksecrets.framenet.tables import LINKS
from darksecrets.plotting import kit
from darksecrets.run.errors import InputError
from darksecrets.stats.percentiles import above_percentile

TOKENS = ["[CLS]", "the", "cat", "was", "not", "snor", "##ing", ".", "[SEP]"]


VALUES = ("weight", "over_control", "over_unlinked", "excess")


def table(layers: int, heads: int) -> pd.DataFrame:
    layer, head = np.indices((layers, heads)) + 1
    rng = np.random.default_rng(1)
    parts = []
    for direction in ("predicate_to_element", "element_to_predicate"):
        values = {name: rng.uniform(0, 0.2, layers * heads) for name in VALUES}
        for name in VALUES[1:]:
            values[name] -= 0.1
        values |= {f"{name}_p": rng.random(layers * heads) ** 12 for name in VALUES[1:3]}
        part = pd.DataFrame({"layer": layer.ravel(), "head": head.ravel(), **values})
        high = above_percentile(values["weight"])
        out = rng.random(layers * heads) < 0.1
        parts.append(
            part.assign(
                direction=direction, sentences=473, above_percentile=high, exceeds_controls=out
            )
        )
    whole = pd.concat(parts).assign(state="pretrained")
    return whole.sample(frac=1, random_state=2, ignore_index=True)


def example(heads: list[tuple[int, int]]) -> Example:
    maps = np.random.default_rng(3).dirichlet(np.ones(9), size=(len(heads), 9)).astype(np.float16)
    layers, numbers = np.array(heads).T
    return Example(7, np.array(TOKENS), layers, numbers, maps, np.array([1, 2]), np.array([5, 6]))


def draw3(weights: pd.DataFrame, shown: Example, folder: Path) -> Figure:
    shown.save(folder / "example.npz")
    return draw_with(figure3.draw, ["RTE"], {"example": folder / "example.npz"}, table=weights)


@pytest.mark.parametrize(("layers", "heads"), [(12, 12), (6, 6), (24, 16)])
def test_figure3_shows_both_directions_beside_their_controls(layers, heads, tmp_path):
    weights = table(layers, heads)
    random = weights.assign(state="random", weight=0.9, exceeds_controls=True)
    figure = draw3(pd.concat([random, weights]), example([(1, 1)]), tmp_path)
    weights["both"] = exceeds_both(weights)
    for direction, rows in weights.groupby("direction"):
        rows = rows.set_index(["layer", "head"]).sort_index()
        limits = set()
        for title, name in PANELS.items():
            axes = axes_named(figure, f"{title} {direction}")
            expected = rows[name].unstack().to_numpy()
            np.testing.assert_allclose(cells_of(figure, f"{title} {direction}"), expected)
            frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
            corners = [(patch.get_y() + 1, patch.get_x() + 1) for patch in frames]
            highest = rows.index[rows["above_percentile"]].tolist() if name == "weight" else []
            assert sorted(corners) == sorted(highest)
            rings, dots = (
                sorted((y + 0.5, x + 0.5) for x, y in p.get_xydata()) for p in axes.lines
            )
            assert dots == rows.index[rows["exceeds_controls"]].tolist()
            assert rings == rows.index[rows["both"] & ~rows["exceeds_controls"]].tolist()
            low, high = mesh_of(axes).get_clim()
            assert low == (0 if name == "weight" else -high)
            if name != "weight":
                limits.add(high)
        assert limits == {weights[list(VALUES[1:])].max().max()}, "one scale"


def test_heads_exceed_both_controls_if_the_greater_p_value_does_after_correction():
    weights = table(6, 6)
    greater = [max(r.over_control_p, r.over_unlinked_p) for r in weights.itertuples()]
    order = sorted(range(len(greater)), key=greater.__getitem__)
    ranks = [n for n, i in enumerate(order, start=1) if greater[i] < 0.05 * n / len(greater)]
    expected = {order[n] for n in range(max(ranks, default=0))}
    assert 0 < len(expected) < len(greater)
    assert set(np.flatnonzero(exceeds_both(weights))) == expected
    assert not exceeds_both(weights.assign(over_unlinked=np.nan)).any()


def test_figure3_says_how_many_heads_with_random_weights_stand_out(tmp_path):
    weights = table(2, 3)
    by_chance = weights.assign(state="random", exceeds_controls=[True] * 2 + [False] * 10)
    figure = draw3(pd.concat([weights, by_chance]), example([(1, 1)]), tmp_path)
    rings = int(exceeds_both(by_chance).sum())
    named = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    expected = f"exceeds both controls (random weights: {rings} of 12)"
    assert {expected, "all four (2)"} <= {" ".join(text.split()) for text in named}


def test_figure3_without_words_of_no_link_says_so(tmp_path):
    weights = table(2, 3).assign(over_unlinked=np.nan, excess=np.nan)
    figure = draw3(weights, example([(1, 1)]), tmp_path)
    for title, name in PANELS.items():
        axes = axes_named(figure, f"{title} element_to_predicate")
        none = name in ("over_unlinked", "excess")
        assert [text.get_text() for text in axes.texts] == ["none"] * none


def test_figure3_shows_maps_and_the_distributions_of_both_linked_pieces(tmp_path):
    shown = example([(2, 4), (1, 1)])
    figure = draw3(table(2, 4), shown, tmp_path)
    for number, title in enumerate(("Layer 2, head 4", "Layer 1, head 1")):
        whole, values = axes_named(figure, f"{title} map"), shown.maps[number].astype(float)
        assert np.array_equal(whole.images[0].get_array(), values)
        if number == 0:  # the others share its axis
            assert [tick.get_text() for tick in whole.get_yticklabels()] == TOKENS
        one, other = whole.patches
        assert (one.get_x(), one.get_width()) == (4.5, 2)  # columns: the predicate
        assert (one.get_y(), one.get_height()) == (0.5, 2)  # rows: the element
        assert (other.get_x(), other.get_y()) == (0.5, 4.5)  # the other way round
        for direction, rows, keys in (
            ("element_to_predicate", [1, 2], [5, 6]),
            ("predicate_to_element", [5, 6], [1, 2]),
        ):
            single = axes_named(figure, f"{title} {direction}")
            query = rows[int(values[np.ix_(rows, keys)].max(axis=1).argmax())]
            widths = [bar.get_width() for bar in single.patches]
            assert widths == pytest.approx(values[query].tolist())
            bars = enumerate(single.patches)
            assert [i for i, bar in bars if same_color(bar.get_facecolor(), kit.MARK)] == keys
            assert TOKENS[query] in single.get_title()


def test_figure3_refuses_a_table_without_its_columns(tmp_path):
    example([(1, 1)]).save(tmp_path / "example.npz")
    weights = table(2, 2).drop(columns="direction")
    weights.to_csv(tmp_path / "framenet_heads.csv", index=False)
    files = {"table": "framenet_heads.csv", "example": "example.npz"}
    sources = kit.Sources(lambda name: [tmp_path / files[name]], {}, "")
    with pytest.raises(
        InputError, match=r"framenet_heads\.csv: found the columns.*expected .*direction"
    ):
        figure3.draw(sources)


def annotate(sentence: str, predicate: str, *elements: str, frame: str = "") -> Annotation:
    def span(text: str) -> tuple[int, int]:
        return sentence.index(text), sentence.index(text) + len(text)

    roles = [Element(span(text), f"Role {i}" if frame else "") for i, text in enumerate(elements)]
    return Annotation(sentence, span(predicate), tuple(roles), frame)


LONG = annotate(
    "Anything else that you had ever wanted to tell them, you confessed.",
    "confessed",
    "Anything else",
    "that",
    "them",
    frame="Statement",
)
SHORT = annotate("The book is no mess.", "mess", "The book")


@pytest.mark.parametrize("annotation", [LONG, SHORT])
def test_figure4_draws_boxes_labels_and_arcs_around_the_right_words(annotation, tmp_path):
    LINKS.write(to_table([annotation]), tmp_path / "links.csv")
    figure = draw_with(figure4.draw, ["RTE"], {"table": tmp_path / "links.csv"})
    axes = axes_named(figure, "sentence")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    words = {text.get_text(): text.get_window_extent(renderer) for text in axes.texts}
    assert set(annotation.sentence.split()) <= set(words)
    boxes = [
        patch.get_window_extent() for patch in axes.patches if isinstance(patch, FancyBboxPatch)
    ]
    arcs = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    assert len(boxes) == 1 + len(annotation.elements)
    assert len(arcs) == len(annotation.elements)
    for span in (annotation.predicate, *(element.span for element in annotation.elements)):
        first = annotation.sentence[slice(*span)].split()[0]
        left = min(box.x0 for name, box in words.items() if name.startswith(first))
        assert any(abs(box.x0 - left) < 4 for box in boxes), first
    names = {text.get_text() for text in axes.texts if text.get_fontsize() == kit.SIZE}
    expected = (
        {"predicate (Statement)", "Role 0", "Role 1", "Role 2"}
        if annotation is LONG
        else {"predicate", "core element"}
    )
    assert names == expected


def test_figure4_takes_a_plain_sentence_with_most_elements_and_of_these_the_longest():
    twice = annotate("She slept there and he slept and so did we .", "slept", "She", "he", "we")
    longer = annotate("The heavy old book is no mess.", "mess", "The heavy old book")
    assert choose([SHORT, LONG, twice]) is LONG
    assert choose([twice, SHORT, longer]) is longer
    with pytest.raises(InputError, match="no sentence"):
        choose([])
