"""What a run found about patterns, in a sentence (section 4.1)."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from darksecrets.paper.patterns.classes import PATTERNS, STRICT, Definition

HETEROGENEOUS = list(PATTERNS)[-1]


def describe_heterogeneous_shares(patterns: pd.DataFrame, tasks: Collection[str]) -> str:
    """How many maps are heterogeneous before and after fine-tuning, under the paper's definition.

    Args:
        patterns: The table `patterns`.
        tasks: Tasks that are described; shares are means over seeds.
    """
    after, before = (
        percentages(heterogeneous_shares(patterns, STRICT, state, tasks))
        for state in ("finetuned", "pretrained")
    )
    whose = "the maps" if len(tasks) == 1 else "a task's maps"
    return f"{after} of {whose} are heterogeneous after fine-tuning, {before} before"


def heterogeneous_shares(
    patterns: pd.DataFrame, definition: Definition, state: str, tasks: Collection[str]
) -> pd.Series[float]:
    """Share of heterogeneous maps of every task.

    Args:
        patterns: The table `patterns`.
        definition: Of the classes.
        state: State of the models.
        tasks: Tasks that are meant; shares are means over seeds.
    """
    rows = patterns[patterns["definition"] == definition]
    rows = rows[(rows["pattern"] == HETEROGENEOUS) & rows["task"].isin(list(tasks))]
    return rows[rows["state"] == state].groupby("task")["share"].mean()


def percentages(shares: pd.Series[float]) -> str:
    """The least and the greatest of some shares, such as ``32 to 61%``."""
    low, high = (f"{100 * end:.0f}" for end in (shares.min(), shares.max()))
    return f"{low}%" if low == high else f"{low} to {high}%"
