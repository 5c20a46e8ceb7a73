"""Text of users in figures: what cannot be drawn."""

from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from darksecrets.core.plotting.user_text import as_written


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
