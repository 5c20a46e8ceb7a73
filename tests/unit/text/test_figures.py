"""The figures of a look at text: what is drawn where, and that text is drawn as it is written."""

import numpy as np
import pandas as pd
import pytest
from drawn import LABEL, axes_named, written
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba

from darksecrets.patterns.classes import PATTERNS
from darksecrets.plotting import user_text
from darksecrets.plotting.attention_map import saturation
from darksecrets.plotting.colours import PATTERNS as COLOURS
from darksecrets.plotting.drawing import Given
from darksecrets.text.look import heads_figure, layout

TOKENS = ["[CLS]", "$5", "x_1^2", "$", "\u05e9\u05dc\u05d5\u05dd", "\u4e2d", "{b}", "[SEP]"]
SOURCES = Given({}, LABEL)
SENTENCES = ["costs $5 and $6 \\frac", "<b> \u05e9\u05dc\u05d5\u05dd {b}"]


@pytest.fixture
def maps():
    rng = np.random.default_rng(1)
    return rng.dirichlet(np.ones(len(TOKENS)), size=(3, 2, len(TOKENS))).astype(np.float16)


@pytest.fixture
def patterns():
    names = [*PATTERNS, "block"]
    rows = [(layer, head) for layer in (1, 2, 3) for head in (1, 2)]
    table = pd.DataFrame(rows, columns=["layer", "head"])
    return table.assign(pattern=names, probability=np.linspace(0.5, 1, 6))


def rendered(figure):
    FigureCanvasAgg(figure).draw()  # fails where markup is read in text
    return [text.get_text() for text in written(figure)]


def test_every_head_has_its_map_at_its_place_in_the_frame_of_its_pattern(maps, patterns):
    figure = heads_figure(SOURCES, maps, patterns, SENTENCES)
    axes = axes_named(figure, "heads")
    assert len(axes.images) == 6
    for image in axes.images:
        left, right, bottom, top = image.get_extent()
        head, layer = round((left + right) / 2), round((bottom + top) / 2)
        assert bottom > top, "the first token's row is at the top"
        assert np.array_equal(image.get_array(), maps[layer - 1, head - 1].astype(np.float32))
        assert image.norm.vmax == pytest.approx(saturation(maps[layer - 1, head - 1]))
        reds = image.cmap([0.0, 0.5, 1.0])[:, :3].sum(axis=1)
        assert (np.diff(reds) < 0).all(), "darker = greater"
    frames = {(round(p.get_x() + 0.44), round(p.get_y() + 0.44)): p for p in axes.patches}
    for row in patterns.itertuples():
        assert frames[row.head, row.layer].get_edgecolor() == to_rgba(COLOURS[row.pattern])
    texts = rendered(figure)
    assert any("costs $5 and $6 \\frac" in text for text in texts)
    assert {"block (2)", "vertical (1)"} <= set(texts)


@pytest.mark.parametrize("tokens", [3, 20, 128, 512])
def test_large_maps_fit_into_a_picture_that_can_be_written(tokens):
    for maps in (1, 2, 5, 12, 144, 384):
        down, across, width, height = layout(maps, tokens)
        assert down * across >= maps > (down - 1) * across
        assert 300 * max(width, height) < 2**16, "matplotlib's limit"
        assert 300**2 * width * height < 2e8, "the memory of a picture"


def test_characters_without_a_font_are_written_as_code_points(monkeypatch):
    known = {"a", "b", " "}
    monkeypatch.setattr(user_text, "font_of", lambda letter: letter in known and user_text.FONT)
    assert user_text.drawable("a \u4e2d\U0001f9ff") == "a <U+4E2D><U+1F9FF>"


def test_lines_keep_the_direction_of_the_whole_text():
    assert user_text.lines("a b c", 40) == ["a b c"]
    assert user_text.lines("abc \u05e9\u05dc", 40) == ["\u200eabc \u05e9\u05dc"]
    first, second = user_text.lines("\u05e9\u05dc " * 4 + "abc", 10)
    assert first[0] == second[0] == "\u200f"
    assert len(user_text.lines("word " * 500, 60)) <= 3
