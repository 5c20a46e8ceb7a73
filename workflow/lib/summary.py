"""What a finished run ends with in the terminal: Table 1, and where its results are."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence, Set
from pathlib import Path

from darksecrets.core.run.learned import CONSTANT, warnings

BULLET = "- "
"""How notes below Table 1 begin."""
PAGES = ("atlas.html", "report.html", "figures", "tables")
"""Where to look first, in the folder of a run."""
FEW_FIGURES = 8
"""Figures that are named one by one; of more, their folder."""


def summarize(results: Path, made: Set[str]) -> str:
    """The last words of a run.

    Args:
        results: Folder of the run.
        made: Files that the run was to make.
    """
    lines = [""]
    if str(results / "figures" / "table1.md") in made:
        text = (results / "figures" / "table1.md").read_text(encoding="utf-8").splitlines()
        table = [*itertools.takewhile(lambda line: line.startswith("|"), text)]
        notes = [line.removeprefix(BULLET) for line in text]
        same = [note for note in notes if note.startswith(CONSTANT)]
        lines += ["Table 1", "", narrowed(table), "", *same, ""]
    if unlearned := warnings(results):
        lines += [*unlearned, ""]
    lines += findings(results)
    figures = sorted(each for each in made if Path(each).suffix == ".svg" and Path(each).exists())
    places = [str(path) for name in PAGES if (path := results / name).exists()]
    shown = figures if len(figures) <= FEW_FIGURES else []
    named = [*shown, *_other_pages(results, made), *places]
    lines += ["Results:", *(f"  {path}" for path in named or [str(results)])]
    return "\n".join(lines)


def _other_pages(results: Path, made: Set[str]) -> list[str]:
    """Pages that the run was to make, other than figures and those of `PAGES`."""
    pages = sorted(Path(each) for each in made if Path(each).suffix == ".html")
    known = {results / name for name in PAGES}
    return [
        str(page)
        for page in pages
        if page.exists() and page not in known and page.parent != results / "figures"
    ]


def readable(text: str, encoding: str | None) -> str:
    """A text for a terminal that may know no more than ASCII: the same width, in its characters.

    Args:
        text: The text.
        encoding: That of the terminal; None if it is unknown.
    """
    known = encoding or "ascii"
    try:
        text.encode(known)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(known, "replace").decode(known)
    return text


_PLAIN = str.maketrans({"±": "~", "−": "-", "†": "+", "‡": "#", "²": "2", "·": "-", "…": "."})
"""Signs of tables in ASCII, one for one."""


def narrowed(table: Sequence[str]) -> str:
    """A table in Markdown, for a terminal: each word of a heading has a line of its own.

    Args:
        table: Its lines: headings, a line that says how columns are aligned, and rows.
    """
    headings, marks, *rows = ([cell.strip() for cell in line[1:-1].split("|")] for line in table)
    words = [heading.split() for heading in headings]
    depth = max(map(len, words))
    bottom = [[""] * (depth - len(each)) + each for each in words]
    lines = [*zip(*bottom, strict=True), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(depth, ["-" * width for width in widths])
    to_right = [mark.endswith(":") for mark in marks]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, to_right, strict=True)
        ).rstrip()
        for line in lines
    )


def findings(results: Path) -> list[str]:
    """What the run found, a line for each sentence; nothing if it was not asked for."""
    path = results / "tables" / "findings.csv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    said = []
    for row in rows:
        where = f" ({row['shown_by']})" if row["shown_by"] else ""
        said.append(f"- {row['sentence']}{where}.")
    return ["What was found", "", *said, ""]
