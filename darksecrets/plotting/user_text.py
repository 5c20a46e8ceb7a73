"""Text that users give, drawn as it is written: no markup, and in fonts that have its characters.

matplotlib would take `$` for the start of a formula, and draw an empty box for a character that the
figures' font lacks. Text from right to left is laid out by matplotlib itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.text import Text

FONT = "DejaVu Sans"
"""Font of all figures, see `darksecrets.plotting.style`."""


def as_written(texts: Iterable[Text]) -> None:
    """Draw texts as they are: without formulas, and with a font for every character.

    A character that no installed font has is written as its code point, such as <U+4E2D>.
    """
    for text in texts:
        text.set_parse_math(False)
        content = text.get_text()
        fonts = {letter: font_of(letter) for letter in dict.fromkeys(content)}
        text.set_fontfamily(list(dict.fromkeys([FONT, *filter(None, fonts.values())])))
        text.set_text(
            "".join(letter if fonts[letter] else f"<U+{ord(letter):04X}>" for letter in content)
        )


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
    return name.startswith(("Last Resort", "cm", "STIXSize"))
