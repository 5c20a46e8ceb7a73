"""Bring the counts of the last programme into docs/faults.md: ``python -m tests.faults.page``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "faults.md"
OUTCOMES = ROOT / "results" / "faults" / "outcomes.csv"
START, END = "<!-- faults: made by make test-faults -->", "<!-- /faults -->"


def counts(outcomes: pd.DataFrame) -> str:
    """How many faults of each kind ended how, as a Markdown table."""
    table = outcomes.groupby(["kind", "end"], sort=False).size().rename("faults").reset_index()
    table.columns = ["what", "one plain call then ended in", "faults"]
    return table.to_markdown(index=False)


def page(text: str, outcomes: pd.DataFrame) -> str:
    """The page with these counts."""
    made = f"{START}\n\n{counts(outcomes)}\n\n{len(outcomes)} faults in all.\n{END}"
    return re.sub(f"{START}.*{END}", lambda _: made, text, flags=re.DOTALL)


def main() -> None:
    if not OUTCOMES.is_file():
        sys.exit(f"{OUTCOMES}: found no outcomes. Run make test-faults first.")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), pd.read_csv(OUTCOMES)), encoding="utf-8")


if __name__ == "__main__":
    main()
