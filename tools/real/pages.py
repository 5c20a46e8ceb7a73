"""Fill the parts of pages that are made from the kept tables."""

from __future__ import annotations

import re
from pathlib import Path

from darksecrets.core.run.files import write_text
from darksecrets.pages.encoders.page import html
from darksecrets.pages.encoders.reading import read
from tools.real.kept import KEPT, ROOT, RealRunError
from tools.real.parts import ENCODERS, PARTS

PART = re.compile(r"<!--= ([\w-]+) -->.*?<!--/-->", re.DOTALL)
"""A part of a page, between two comments: the first names it."""


def fill(text: str, page: str) -> str:
    """The text of a page with its parts made anew.

    Raises:
        RealRunError: The page names a part that there is not.
    """

    def make(match: re.Match[str]) -> str:
        name = match[1]
        if name not in PARTS:
            raise RealRunError(f"{page} names the part {name!r}. Parts are {', '.join(PARTS)}.")
        return f"<!--= {name} -->{PARTS[name]()}<!--/-->"

    return PART.sub(make, text)


def compare_encoders() -> None:
    """Write the page of all kept encoders side by side, if there are several."""
    if len(ENCODERS) > 1:
        runs = read([KEPT / name for name in ENCODERS])
        write_text(html(runs), KEPT / "encoders.html")


def find_pages() -> list[Path]:
    """README and the pages of `docs`, which may have parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def write() -> list[Path]:
    """Fill all pages; returns those that changed."""
    changed = []
    for page in find_pages():
        text = page.read_text(encoding="utf-8")
        filled = fill(text, page.name)
        if filled != text:
            page.write_text(filled, encoding="utf-8")
            changed.append(page)
    return changed
