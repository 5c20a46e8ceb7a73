"""The figures of a look at text: what is drawn where, and that text is drawn as it is written."""

import numpy as np
import pandas as pd
import pytest
from drawn import LABEL, axes_named, mesh_of, written
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba

from darksecrets.features.tables import ENTROPIES, SHARES
from darksecrets.patterns.classes import PATTERNS
from darksecrets.plotting import user_text
from darksecrets.plotting.attention_map import saturation
from darksecrets.plotting.colours import PATTERNS as COLOURS
from darksecrets.plotting.drawing import Given
from darksecrets.text.look import heads_figure, layout, maps_figure, statistics_figure

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


def test_large_maps_have_tokens_on_both_axes_as_they_are_written(maps, patterns):
    figure = maps_figure(SOURCES, maps, patterns.iloc[[1, 4]], TOKENS, SENTENCES)
    rendered(figure)
    for layer, head in ((1, 2), (3, 1)):
        axes = axes_named(figure, f"{layer} {head}")
        drawn = axes.images[0].get_array()
        assert np.array_equal(drawn, maps[layer - 1, head - 1].astype(np.float32))
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            assert [text.get_text() for text in labels] == list(map(user_text.drawable, TOKENS))
            assert not any(text.get_parse_math() for text in labels)
        assert f"Layer {layer}, head {head}" in axes.get_title()


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


def test_the_figures_font_comes_first_and_a_box_is_no_glyph():
    for letter in "a$é\u05e9\u0645 ":
        assert user_text.font_of(letter) == user_text.FONT
    assert user_text.font_of("\ue123") is None  # private use: at most boxes


def test_lines_keep_the_direction_of_the_whole_text():
    assert user_text.lines("a b c", 40) == ["a b c"]
    assert user_text.lines("abc \u05e9\u05dc", 40) == ["\u200eabc \u05e9\u05dc"]
    first, second = user_text.lines("\u05e9\u05dc " * 4 + "abc", 10)
    assert first[0] == second[0] == "\u200f"
    assert len(user_text.lines("word " * 500, 60)) <= 3


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("parsed", [True, False])
def test_statistics_are_heatmaps_of_heads(parsed, local):
    rng = np.random.default_rng(2)
    shares = [kind for kind in SHARES if parsed or kind != "punctuation"]
    entropies = [kind for kind in ENTROPIES if local or kind == "entropy"]
    kinds = [*shares, *entropies]
    rows = [(kind, layer, head) for kind in kinds for layer in (1, 2, 3) for head in (1, 2)]
    table = pd.DataFrame(rows, columns=["statistic", "layer", "head"])
    table = table.assign(task="ab12", value=rng.random(len(rows)))
    table.loc[table["statistic"].isin(ENTROPIES), "value"] *= 4
    figure = statistics_figure(SOURCES, table)
    for kind in kinds:
        mesh = mesh_of(axes_named(figure, kind))
        group = shares if kind in shares else entropies
        darkest = table.loc[table["statistic"].isin(group), "value"].max()
        assert mesh.get_clim() == pytest.approx((0, darkest)), "one scale for a group"
        drawn = mesh.get_array()
        expected = table[table["statistic"] == kind].pivot(
            index="layer", columns="head", values="value"
        )
        assert np.array_equal(np.asarray(drawn).reshape(3, 2), expected.to_numpy())
    texts = [" ".join(text.split()) for text in rendered(figure)]
    assert any("punctuation unknown" in text for text in texts) != parsed
