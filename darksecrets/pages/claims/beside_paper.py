"""Numbers that the paper prints, beside those of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from darksecrets.core.run.files import RESOURCES, read_yaml
from darksecrets.core.run.learned import TABLE as LEARNED
from darksecrets.pages.claims.estimates import Estimate
from darksecrets.pages.claims.gathering import ABSENT, gather
from darksecrets.pages.claims.registry import Question, read_question
from darksecrets.pages.claims.sources import Run, Tables, UnansweredError
from darksecrets.pages.claims.tables import BESIDE_PAPER, COMPARABLE, SIGNS
from darksecrets.paper.finetuning.published import read_paper

NUMBERS = RESOURCES / "paper" / "numbers.yaml"
TABLE1 = RESOURCES / "paper" / "table1.csv"
_DATA = "GLUE"
SCORES = {
    "pretrained": "score of the pre-trained model with an untrained classifier",
    "finetuned-from-normal": "score of fine-tuned random weights",
    "finetuned": "score of the fine-tuned model",
}
"""What the table calls the scores of Table 1, by state."""
_OTHER = "another model or other data"


@dataclass(frozen=True)
class Printed:
    """Numbers of one kind that the paper prints.

    Attributes:
        section: Section of the paper.
        quantity: What the numbers are of, in words.
        unit: Their unit.
        question: Where a run's numbers are.
        numbers: The printed numbers, by task, or by task and metric.
        signed: Whether they are differences, whose signs can be compared.
        places: Which task the paper says has the ``greatest`` or ``least`` number of all.
    """

    section: str
    quantity: str
    unit: str
    question: Question
    numbers: Mapping[tuple[str, ...], float]
    signed: bool
    places: Mapping[str, str]


def read(numbers: Path, table1: Path) -> list[Printed]:
    """Read the printed numbers: those of the text, then those of Table 1.

    Raises:
        InputError: An entry is wrong; the message names it.
    """
    entries = [_read_entry(numbers, entry) for entry in read_yaml(numbers)]
    return [*entries, *_read_table1(table1)]


def compare(printed: Sequence[Printed], tables: Tables, run: Run) -> pd.DataFrame:
    """Put a run's numbers beside the paper's.

    Args:
        printed: The paper's numbers.
        tables: The run's tables.
        run: The run.

    Returns:
        The table `darksecrets.pages.claims.tables.BESIDE_PAPER`.
    """
    rows = [row for one in printed for row in _compare_one(one, tables, run)]
    return pd.DataFrame(rows, columns=list(BESIDE_PAPER.names))


def _read_entry(path: Path, entry: Mapping[str, Any]) -> Printed:
    question = read_question(f"{path}, {entry['quantity']}", entry["answer"])
    return Printed(
        section=str(entry["section"]),
        quantity=entry["quantity"],
        unit=entry["unit"],
        question=question,
        numbers={(task,): float(number) for task, number in entry["printed"].items()},
        signed=entry.get("signed", False),
        places=entry.get("places", {}),
    )


def _read_table1(path: Path) -> list[Printed]:
    scores = read_paper(path)
    found = []
    for state, quantity in SCORES.items():
        rows = scores[scores["state"] == state]
        names = zip(rows["task"], rows["metric"], strict=True)
        found.append(
            Printed(
                section="Table 1",
                quantity=quantity,
                unit="× 100",
                question=Question(
                    table="score_means",
                    value="score",
                    where={"model": state},
                    each=("task", "metric"),
                    seeds=1,
                ),
                numbers=dict(zip(names, rows["score"], strict=True)),
                signed=False,
                places={},
            )
        )
    return found


def _compare_one(printed: Printed, tables: Tables, run: Run) -> list[dict[str, Any]]:
    question = printed.question
    tasks = list(dict.fromkeys([*(name[0] for name in printed.numbers), *run.tasks]))
    unlearned = tables.unlearned() if question.is_about_tuned(tables.declared) else {}
    try:
        # Numbers of models that have not learned their task are shown, too, and marked.
        found = gather(question, tasks, tables.drop(LEARNED), run)
        estimates = {one.name: one for one in found}
        why = ABSENT
    except UnansweredError as error:
        estimates, why = {}, str(error)
    known = {name: one.value for name, one in estimates.items() if not math.isnan(one.value)}
    rows = []
    for name, number in printed.numbers.items():
        task, *metric = name
        estimate = estimates.get(name, Estimate.missing(name, why))
        if task not in run.tasks:
            estimate = replace(estimate, unknown=ABSENT)
        elif task in unlearned:
            estimate = replace(estimate, unknown=f"{task} is not learned ({unlearned[task]})")
        place = printed.places.get(task)
        low, high = _find_interval(question, estimate)
        sign = _compare_signs(number, estimate.value, low, high) if printed.signed else None
        rows.append(
            {
                "section": printed.section,
                "quantity": printed.quantity,
                "task": task,
                "metric": metric[0] if metric else None,
                "unit": printed.unit,
                "paper": number,
                "value": estimate.value,
                "ci_low": low,
                "ci_high": high,
                "seeds": estimate.seeds,
                "same_sign": sign,
                "place": place,
                "place_in_run": _rank(name, known, place) if place else None,
                "comparable": _compare_data(estimate, run),
            }
        )
    return rows


def _find_interval(question: Question, estimate: Estimate) -> tuple[float, float]:
    """The interval; none of numbers that their table gives without one."""
    return (math.nan, math.nan) if question.exact else estimate.ends


def _compare_signs(printed: float, value: float, low: float, high: float) -> str | None:
    """Whether the run's number has the paper's sign, for sure if it has an interval."""
    if math.isnan(value):
        return None
    same, other, either = SIGNS
    if low <= 0 <= high:
        return either
    return same if (value > 0) == (printed > 0) else other


def _rank(name: tuple[str, ...], known: Mapping[tuple[str, ...], float], place: str) -> str | None:
    """The rank among the tasks of the run, such as ``2 of 7``, from the end that is claimed."""
    if name not in known:
        return None
    own = known[name]
    before = [value > own if place == "greatest" else value < own for value in known.values()]
    return f"{1 + sum(before)} of {len(known)}"


def _compare_data(estimate: Estimate, run: Run) -> str:
    """Whether the numbers can be compared, or why not."""
    if estimate.unknown:
        return estimate.unknown
    return COMPARABLE if _DATA in run.shared else _OTHER
