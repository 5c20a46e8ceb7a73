"""Text that users give, drawn as it is written: no markup, and in fonts that have its characters.

matplotlib would take `$` for the start of a formula, and draw an empty box for a character that the
figures' font lacks. Text from right to left is laid out by matplotlib itself.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FuncFormatter

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_RIGHT_TO_LEFT = {"R", "AL"}

_NUMBER = re.compile(r"-[\d.,]+(e[+-]?\d+)?[*%]?")

FONT = "DejaVu Sans"
"""Font of all figures, see `darksecrets.core.plotting.style`."""


def as_written(figure: Figure) -> None:
    """Draw all texts of a figure without formulas, and with a font for every character.

    Characters that cannot be drawn become code points, see `drawable`; a negative number's hyphen
    becomes a minus sign.
    """
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _make_drawable(axis)
    for text in figure.findobj(Text):
        _as_written(text)


def _as_written(text: Text) -> None:
    content = text.get_text()
    text.set_parse_math(False)
    if _NUMBER.fullmatch(content):
        text.set_text(content.replace("-", "−"))
    if content.isascii() and not any(map(_is_control, content)):
        return
    if (possible := drawable(content)) != content:
        text.set_text(possible)
    others = {font_of(letter) for letter in possible} - {FONT, None}
    if others:
        text.set_fontfamily([FONT, *sorted(filter(None, others)), "sans-serif"])


def _make_drawable(axis: Axis) -> None:
    """The names along an axis: matplotlib writes them again whenever it draws."""
    written = axis.get_major_formatter()
    if isinstance(written, FuncFormatter | FixedFormatter) and any(
        drawable(label.get_text()) != label.get_text() for label in axis.get_ticklabels()
    ):
        axis.set_major_formatter(FuncFormatter(lambda value, at: drawable(written(value, at))))


def drawable(content: str) -> str:
    """Write characters that no font has as code points, such as <U+4E2D>; so control characters.

    These, but for line breaks and tabs, would make an SVG file invalid.
    """
    return "".join(
        letter if font_of(letter) and not _is_control(letter) else f"<U+{ord(letter):04X}>"
        for letter in content
    )


def _is_control(letter: str) -> bool:
    return unicodedata.category(letter) == "Cc" and letter not in "\n\t"


def lines(content: str, width: int, most: int = 3) -> list[str]:
    """Break a text into lines of at most ``width`` characters; after ``most``, it is cut off.

    Each line has the direction of the whole text, which is that of its first letter.
    """
    kinds = [unicodedata.bidirectional(letter) for letter in content]
    mark = ""
    if _RIGHT_TO_LEFT & set(kinds):
        first = next(kind for kind in kinds if kind in {"L", *_RIGHT_TO_LEFT})
        mark = "\u200e" if first == "L" else "\u200f"
    wrapped = textwrap.wrap(drawable(content), width, max_lines=most, placeholder=" …")
    return [mark + line for line in wrapped]


@cache
def font_of(letter: str) -> str | None:
    """The figures' font if it has a character, else the first installed one; None if none has."""
    from matplotlib import font_manager

    if letter.isspace():
        return FONT
    fonts = font_manager.fontManager.ttflist
    for entry in sorted(fonts, key=lambda font: (font.name != FONT, font.name)):
        usual = entry.style == "normal" and entry.weight in (400, "normal", "regular")
        font = font_manager.get_font(entry.fname) if usual and not _strange(entry.name) else None
        if font and font.get_char_index(ord(letter)):
            return str(entry.name)
    return None


def _strange(name: str) -> bool:
    """Whether a font has boxes for all characters, or mathematical symbols in their places."""
    return name.startswith(("Last Resort", "cm", "STIXNonUnicode", "STIXSize"))
