"""Tasks that fine-tuned models have not learned: what their heads do says nothing of them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

TABLE = "learned"
"""Name of the table, see `darksecrets.finetuning.tables.LEARNED`."""
ADVICE = (
    "What such models do says nothing of their task. Change `fine_tuning.learning_rate`, "
    "`fine_tuning.epochs` or the task's `epochs`, or give it more examples (`data.size`)."
)
_ALL_SEEDS = ("", "nan", "None", "<NA>")  # an empty cell, as text or as pandas has it


def unlearned(rows: Iterable[Mapping[Any, Any]]) -> dict[str, str]:
    """The tasks that models, over all seeds, have not learned, with their scores in words.

    Args:
        rows: Those of the table, as read by pandas or as text.
    """
    return {
        row["task"]: "{:.1f}, majority class {:.1f}, bag of words {:.1f}".format(
            *(float(row[name]) for name in ("score", "majority", "bag_of_words"))
        )
        for row in rows
        if str(row["seed"]) in _ALL_SEEDS and str(row["learned"]) == "False"
    }


def warnings(results: Path) -> list[str]:
    """Lines about models of a run that have not learned, and what to change; often none."""
    path = results / "tables" / f"{TABLE}.csv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        found = unlearned(csv.DictReader(file))
    said = [f"{task} is not learned: {scores}." for task, scores in found.items()]
    return [*said, ADVICE, ""] if said else []
