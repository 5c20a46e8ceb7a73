"""Figures 3 and 4 against what they are drawn from, read back from the drawn objects."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from drawn import written
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from darksecrets.framenet import figure4 as drawing
from darksecrets.framenet.example import Example
from darksecrets.framenet.figure3 import exceeds_both, figure3
from darksecrets.framenet.figure4 import choose, figure4
from darksecrets.framenet.links import Annotation, Element
from darksecrets.plotting.style import MARK
from darksecrets.run.errors import InputError
from darksecrets.stats.percentiles import above_percentile

LABEL = "run x · tiny BERT · built-in corpus (not comparable with the paper) · links: FrameNet 1.7"
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
            part.assign(direction=direction, sentences=473, above_percentile=high, stands_out=out)
        )
    return pd.concat(parts).sample(frac=1, random_state=2)


def example(heads: list[tuple[int, int]]) -> Example:
    maps = np.random.default_rng(3).dirichlet(np.ones(9), size=(len(heads), 9)).astype(np.float16)
    layers, numbers = np.array(heads).T
    return Example(7, np.array(TOKENS), layers, numbers, maps, np.array([1, 2]), np.array([5, 6]))


def axes_of(figure: Figure) -> dict[str, Axes]:
    return {str(axes.get_label()): axes for axes in figure.axes}


@pytest.mark.parametrize(("layers", "heads"), [(12, 12), (6, 6), (24, 16)])
def test_figure3_shows_both_directions_beside_their_controls(layers, heads):
    weights = table(layers, heads)
    weights["both"] = exceeds_both(weights)
    panels = axes_of(figure3(weights, example([(1, 1)]), LABEL))
    for direction, rows in weights.groupby("direction"):
        rows = rows.set_index(["layer", "head"]).sort_index()
        for name in VALUES:
            axes = panels[f"{name} {direction}"]
            mesh = next(part for part in axes.collections if isinstance(part, QuadMesh))
            drawn = mesh.get_array()
            for layer, head in np.ndindex(layers, heads):
                assert drawn[layer, head] == pytest.approx(rows.loc[(layer + 1, head + 1), name])
            frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
            centres = [(patch.get_y() + 0.5, patch.get_x() + 0.5) for patch in frames]
            highest = rows.index[rows["above_percentile"]].tolist() if name == "weight" else []
            assert sorted(centres) == sorted(highest)
            rings, dots = axes.lines
            places = list(zip(dots.get_ydata(), dots.get_xdata(), strict=True))
            assert sorted(places) == rows.index[rows["stands_out"]].tolist()
            places = list(zip(rings.get_ydata(), rings.get_xdata(), strict=True))
            assert sorted(places) == rows.index[rows["both"] & ~rows["stands_out"]].tolist()
            low, high = mesh.get_clim()
            assert low == (0 if name == "weight" else -high)
            top, bottom = (axes.transData.transform((1, layer))[1] for layer in (1, layers))
            assert top > bottom
        limits = [
            next(p for p in panels[f"{name} {direction}"].collections).get_clim()
            for name in VALUES[1:]
        ]
        assert len(set(limits)) == 1, "one scale"
        assert limits[0][1] == weights[list(VALUES[1:])].max().max()


def test_heads_exceed_both_controls_if_the_greater_p_value_does_after_correction():
    weights = table(6, 6)
    greater = [max(r.over_control_p, r.over_unlinked_p) for r in weights.itertuples()]
    order = sorted(range(len(greater)), key=greater.__getitem__)
    ranks = [n for n, i in enumerate(order, start=1) if greater[i] < 0.05 * n / len(greater)]
    expected = {order[n] for n in range(max(ranks, default=0))}
    assert 0 < len(expected) < len(greater)
    assert set(np.flatnonzero(exceeds_both(weights))) == expected
    assert not exceeds_both(weights.assign(over_unlinked=np.nan)).any()


def test_figure3_says_how_many_heads_with_random_weights_stand_out():
    weights = table(2, 3)
    by_chance = weights.assign(stands_out=[True] * 2 + [False] * 10)
    figure = figure3(weights, example([(1, 1)]), LABEL, by_chance)
    title = " ".join(figure.subfigs[0].get_suptitle().split())
    rings = int(exceeds_both(by_chance).sum())
    ends = f"Ring: exceeds both controls (with random weights {rings} of 12). Dot: all four (2)."
    assert title.endswith(ends)
    alone = " ".join(figure3(weights, example([(1, 1)]), LABEL).subfigs[0].get_suptitle().split())
    assert alone.endswith("Ring: exceeds both controls. Dot: all four.")


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (TOKENS, "Example, chosen for the attention along its links: “the cat was not snoring .”"),
        (
            ["[CLS]", "he", "was", "becoming", "ag", "##itated", ".", "yes", "[SEP]"],
            "The paper's example: “he was becoming agitated . yes”",
        ),
        (
            ["<s>", "He", "Ġwas", "Ġbecoming", "Ġag", "itated", ".", "!", "</s>"],
            "The paper's example: “He was becoming agitated.!”",
        ),
        (
            ["[CLS]", "$x^{2$", "<b>", "=cmd()", "_", "א", "$", "\\", "[SEP]"],
            "Example, chosen for the attention along its links: “$x^{2$ <b> =cmd() _ א $ \\”",
        ),
    ],
    ids=["other", "paper's", "byte-level", "markup"],
)
def test_figure3_says_whose_sentence_it_draws_as_it_is_written(tokens, expected, recwarn):
    shown = replace(example([(1, 1)]), tokens=np.array(tokens))
    figure = figure3(table(2, 2), shown, LABEL)
    FigureCanvasAgg(figure).draw()
    assert figure.subfigs[1].get_suptitle().strip("\u200e") == expected
    assert not recwarn.list


@pytest.mark.parametrize(
    ("layers", "heads", "maps", "length"), [(12, 12, 4, 14), (1, 1, 1, 5), (6, 12, 2, 30)]
)
def test_nothing_of_figure3_is_cut_off_and_tokens_do_not_overlap(
    layers, heads, maps, length, recwarn
):
    tokens = np.array(["[CLS]", *("documentary",) * (length - 2), "[SEP]"])
    weights = np.random.default_rng(3).dirichlet(np.ones(length), size=(maps, length))
    places = np.arange(1, maps + 1).clip(max=layers), np.arange(1, maps + 1)
    shown = Example(7, tokens, *places, weights.astype(np.float16), np.array([1]), np.array([3]))
    weights = table(layers, heads)
    canvas = FigureCanvasAgg(figure3(weights, shown, LABEL, weights))
    canvas.draw()
    width, height = canvas.get_width_height()
    for text in written(canvas.figure):
        box = text.get_window_extent(canvas.get_renderer())
        assert -1 <= box.x0 <= box.x1 <= width + 1, text
        assert -1 <= box.y0 <= box.y1 <= height + 1, text
    for axes in canvas.figure.axes:
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            boxes = [label.get_window_extent() for label in labels if label.get_text()]
            for one, other in pairwise(boxes):
                assert not one.padded(-1).overlaps(other.padded(-1))
    assert not recwarn.list


def test_figure3_without_words_of_no_link_says_so():
    weights = table(2, 3).assign(over_unlinked=np.nan, excess=np.nan)
    panels = axes_of(figure3(weights, example([(1, 1)]), LABEL))
    for name in ("over_unlinked", "excess"):
        (text,) = panels[f"{name} element_to_predicate"].texts
        assert text.get_text() == "none"


def test_figure3_shows_maps_and_the_distributions_of_both_linked_pieces():
    shown = example([(2, 4), (1, 1)])
    axes = axes_of(figure3(table(2, 4), shown, LABEL))
    for number, title in enumerate(("Layer 2, head 4", "Layer 1, head 1")):
        whole, values = axes[f"map {number + 1}"], shown.maps[number].astype(float)
        assert whole.get_title() == title
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
            single = axes[f"{direction} {number + 1}"]
            query = rows[int(values[np.ix_(rows, keys)].max(axis=1).argmax())]
            widths = [bar.get_width() for bar in single.patches]
            assert widths == pytest.approx(values[query].tolist())
            bars = enumerate(single.patches)
            assert [i for i, bar in bars if same_color(bar.get_facecolor(), MARK)] == keys
            assert TOKENS[query] in single.get_title()


def test_figure3_refuses_a_table_without_its_columns():
    with pytest.raises(InputError, match=r"framenet_heads\.csv.*missing: direction"):
        figure3(table(2, 2).drop(columns="direction"), example([(1, 1)]), LABEL)


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
def test_figure4_draws_boxes_labels_and_arcs_around_the_right_words(annotation):
    figure = figure4([annotation], LABEL)
    axes = axes_of(figure)["sentence"]
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
    for text in axes.texts:  # nothing leaves the figure
        extent = text.get_window_extent(renderer)
        assert extent.x0 >= 0
        assert extent.x1 <= figure.bbox.width
    labels = [text for text in axes.texts if text.get_fontsize() == drawing.LABEL]
    extents = [label.get_window_extent(renderer) for label in labels]
    for number, one in enumerate(extents):
        assert not any(one.overlaps(other) for other in extents[number + 1 :])
    names = {label.get_text() for label in labels}
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
