"""Words of a text in any script, without a language's own tools."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

_ALONE = (
    r"\p{Han}\p{Hiragana}\p{Katakana}ー々〆"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}\p{Javanese}"
)
"""Scripts that put no spaces between words: there, each character with its marks is a word."""
_OF_ASCII = re.compile(r"\w+|[^\w\s]")


def words_of(text: str) -> list[str]:
    """The words and signs of a text, composed (NFC), so that equal words are equal strings."""
    composed = unicodedata.normalize("NFC", text)
    found: list[str] = _pattern(composed).findall(composed)
    return found


def spans_of(text: str) -> list[tuple[int, int]]:
    """Where the words and signs of a text are: start and end (exclusive), in characters."""
    return [found.span() for found in _pattern(text).finditer(text)]


def _pattern(text: str) -> Any:  # noqa: ANN401 - a pattern of either library
    """What finds the words of a text."""
    return _OF_ASCII if text.isascii() else _script_pattern()


def letters_of(text: str) -> list[tuple[int, int]]:
    """Where the letters and signs of a text are, each with its marks; white space is none."""
    if text.isascii():
        return [(at, at + 1) for at, letter in enumerate(text) if not letter.isspace()]
    import regex

    return [found.span() for found in regex.finditer(r"\X", text) if not found[0].isspace()]


@functools.cache
def _script_pattern() -> Any:  # noqa: ANN401 - a pattern of the library
    """A character that stands alone; other letters and digits with their marks; or a sign."""
    import regex

    joined = rf"[[\w\p{{N}}\p{{M}}\u200c\u200d]--[{_ALONE}]]+"
    return regex.compile(rf"[{_ALONE}]\p{{M}}*|{joined}|[^\w\s]", regex.VERSION1)
