"""Tasks that fine-tuned models have not learned: what their heads do says nothing of them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

TABLE = "learned"
"""Name of the table, see `darksecrets.paper.finetuning.tables.LEARNED`."""
MARK = "‡"
"""Stands at the name of such a task, in tables and figures."""
CONSTANT = "†"
"""Stands at the score of models that predict the same for every example."""
WHY = "not better than the majority class (paired test), or below a bag of words"
NOTE = f"{MARK} not learned: {WHY} (Table 1)"
LEFT_OUT = f"left out, not learned: {WHY} (Table 1)"
ADVICE = (
    "What such models do says nothing of their task. Change `fine_tuning.learning_rate`, "
    "`fine_tuning.epochs` or the task's `epochs`, or give it more training examples."
)
MUCH = 0.05
"""Share of texts cut, or of words unknown, from which on it is said."""
_UNSEEN = {
    "texts_cut": "of the texts are cut (`fine_tuning.max_length`)",
    "words_unknown": "of the words are unknown to the encoder",
}
"""Columns of the table that say what a model does not see."""
_ALL_SEEDS = ("", "nan", "None", "<NA>")  # an empty cell, as text or as pandas has it


def unlearned(rows: Iterable[Mapping[Any, Any]]) -> dict[str, str]:
    """The tasks that models, over all seeds, have not learned, with their scores in words.

    Args:
        rows: Those of the table, as read by pandas or as text.
    """
    found = {}
    for row in rows:
        if str(row["seed"]) in _ALL_SEEDS and str(row["learned"]) == "False":
            numbers = (float(row[name]) for name in ("score", "majority", "bag_of_words"))
            said = "{:.1f}, majority class {:.1f}, bag of words {:.1f}".format(*numbers)
            found[row["task"]] = "; ".join([said, *_unseen(row)])
    return found


def _unseen(row: Mapping[Any, Any]) -> list[str]:
    """What models of a task do not see of its texts, in words; mostly nothing."""
    shares = {name: float(row.get(name) or 0) for name in _UNSEEN}
    return [f"{share:.0%} {_UNSEEN[name]}" for name, share in shares.items() if share >= MUCH]


def unseen(rows: Iterable[Mapping[Any, Any]]) -> dict[str, str]:
    """By task, what its models do not see of its texts, in words, where it is much.

    Args:
        rows: See `unlearned`.
    """
    said = {row["task"]: ", ".join(_unseen(row)) for row in rows if str(row["seed"]) in _ALL_SEEDS}
    return {task: words for task, words in said.items() if words}


def failed(rows: Iterable[Mapping[Any, Any]]) -> list[str]:
    """Single fine-tunings that have not learned a task that most seeds have, in words.

    Args:
        rows: See `unlearned`.
    """
    known = list(rows)
    whole = unlearned(known)
    return [
        f"{row['task']} seed {int(row['seed'])} ({float(row['score']):.1f}, majority class "
        f"{float(row['majority']):.1f})"
        for row in known
        if str(row["seed"]) not in _ALL_SEEDS
        and str(row["learned"]) == "False"
        and row["task"] not in whole
    ]


def describe_learned(
    describe: Callable[[list[str]], str], tasks: Sequence[str], unlearned: Collection[str]
) -> str:
    """A sentence about fine-tuned models, of the tasks that they have learned, and says so.

    Args:
        describe: Makes the sentence for some tasks.
        tasks: All tasks.
        unlearned: Tasks of which nothing is said.
    """
    chosen = [task for task in tasks if task not in unlearned]
    if not chosen:
        return "No task was learned, so nothing is said of the fine-tuned models"
    said = describe(chosen)
    return said if len(chosen) == len(tasks) else f"Learned tasks: {said[0].lower()}{said[1:]}"


def marks(*, constant: float, unlearned: bool) -> str:
    """What stands at a score.

    Args:
        constant: Share of the models whose prediction is the same for every example.
        unlearned: Whether they have not learned the task.
    """
    text = CONSTANT if constant > 0 else ""
    return text + MARK if unlearned else text


def read(*paths: Path) -> dict[str, str]:
    """The same from the files of such tables, without pandas; nothing of files that are missing."""
    found: dict[str, str] = {}
    for path in paths:
        found |= unlearned(_rows(path))
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows of such a table; none if it is missing."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def warnings(results: Path) -> list[str]:
    """Lines about models of a run that have not learned, or do not see their texts; often none."""
    rows = _rows(results / "tables" / f"{TABLE}.csv")
    found = unlearned(rows)
    said = [f"{MARK} {task} is not learned: {scores}." for task, scores in found.items()]
    advice = [ADVICE, ""] if said else []
    others = {task: words for task, words in unseen(rows).items() if task not in found}
    return [*said, *advice, *(f"{task}: {words}." for task, words in others.items())]
