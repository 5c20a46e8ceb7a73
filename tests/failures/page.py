"""Bring the counts of the faults tried into docs/failures.md: ``python -m tests.failures.page``."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "failures.md"
OUTCOMES = ROOT / "results" / "failures" / "outcomes.csv"
START, END = "<!-- failures: made by make test-failures -->", "<!-- /failures -->"
ENDS = ("equal results", "a message", "failed")


def programme() -> list[str]:
    """Names of the programme's tests of which each puts a fault upon a run."""
    collect = [sys.executable, "-m", "pytest", "-m", "failures", "tests/failures", "--collect-only"]
    found = subprocess.run([*collect, "-q"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in found.stdout.splitlines() if "::" in line]


def counts(outcomes: pd.DataFrame) -> str:
    """How many faults of each kind ended how, as a Markdown table."""
    table = pd.crosstab(outcomes["kind"], outcomes["end"]).reindex(columns=list(ENDS), fill_value=0)
    table.insert(0, "tried", table.sum(axis=1))
    return table.rename_axis(index="fault", columns=None).reset_index().to_markdown(index=False)


def page(text: str, outcomes: pd.DataFrame, tests: list[str]) -> str:
    """The page with the outcomes of those of the programme's tests that were run."""
    run = outcomes[outcomes["test"].isin(tests)]
    unknown = set(run["end"]) - set(ENDS)
    if unknown:
        raise ValueError(f"found the ends {sorted(unknown)}, expected {ENDS}")
    summary = (
        f"These are {len(run)} faults of {run['test'].nunique()} tests; the programme has "
        f"{len(tests)} tests."
    )
    made = f"{START}\n\n{counts(run)}\n\n{summary}\n\n{END}"
    return re.sub(f"{START}.*{END}", lambda _: made, text, flags=re.DOTALL)


def main() -> None:
    if not OUTCOMES.is_file():
        sys.exit(f"{OUTCOMES}: found no outcomes. Run make test-failures first.")
    text, outcomes = PAGE.read_text(encoding="utf-8"), pd.read_csv(OUTCOMES, dtype=str)
    PAGE.write_text(page(text, outcomes, programme()), encoding="utf-8")


if __name__ == "__main__":
    main()
