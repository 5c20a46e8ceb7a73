"""Text of users in figures: what cannot be drawn."""

from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from darksecrets.core.plotting import user_text
from darksecrets.core.plotting.style import width_of
from darksecrets.core.plotting.user_text import FONT, as_written


@pytest.mark.parametrize("letter", ["\x00", "\x07", "\x1b", "\x1f", "\x7f", "\x85", "\x9b"])
def test_control_characters_are_code_points_in_valid_files(letter, tmp_path):
    figure = Figure()
    axes = figure.subplots()
    axes.set_title(f"a{letter}b\nc\td")
    axes.set_xticks([0, 1], [f"x{letter}", "y"])
    as_written(figure)
    figure.savefig(tmp_path / "figure.svg")
    ElementTree.parse(tmp_path / "figure.svg")
    assert axes.get_title() == f"a<U+{ord(letter):04X}>b\nc\td"
    assert axes.get_xticklabels()[0].get_text() == f"x<U+{ord(letter):04X}>"


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


@pytest.mark.parametrize(
    "text", ["Heads of 3 of 4 tasks", "naïve Σ − “quotes” 95 %", "two costs, $5 and $6", "f\u200bj"]
)
@pytest.mark.parametrize(("size", "weight"), [(7, "normal"), (9.5, "bold")])
def test_widths_are_those_of_the_outlines(text, size, weight):
    font = FontProperties(family=FONT, weight=weight)
    with mpl.rc_context({"text.parse_math": False}):
        outlines = TextPath((0, 0), text, size=size, prop=font)
    assert width_of(text, size, weight) == pytest.approx(outlines.get_extents().x1)


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\u200e", "\xad", "\u2800"])
def test_texts_that_draw_nothing_have_no_width(text):
    assert width_of(text) == 0
