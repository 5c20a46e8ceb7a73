"""What a finished run ends with in the terminal: Table 1, and where its results are."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

from darksecrets.core.run.learned import warnings

MARKS = "- †", "- ‡"
"""Beginnings of the notes that explain marks of Table 1."""
PAGES = ("atlas.html", "report.html", "figures", "tables")
"""Where to look first, in the folder of a run."""


def summarize(results: Path, *, with_table: bool) -> str:
    """The last words of a run.

    Args:
        results: Folder of the run.
        with_table: Whether the run made Table 1.
    """
    lines = [""]
    if with_table:
        text = (results / "figures" / "table1.md").read_text(encoding="utf-8").splitlines()
        table = itertools.takewhile(lambda line: line.startswith("|"), text)
        notes = [line for line in text if line.startswith(MARKS)]
        lines += ["Table 1", "", *table, "", *notes, *warnings(results), ""]
    lines += findings(results)
    found = [path for name in PAGES if (path := results / name).exists()]
    lines += ["Results:", *(f"  {path}" for path in found or [results])]
    return "\n".join(lines)


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
