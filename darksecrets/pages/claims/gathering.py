"""Gather the estimates that a question is about from rows of the run's tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from darksecrets.pages.claims.estimates import Estimate, Spread, average_over_seeds, spread, total
from darksecrets.pages.claims.failures import ABOVE, BELOW
from darksecrets.pages.claims.needed import A_TASK
from darksecrets.pages.claims.registry import Question
from darksecrets.pages.claims.sources import EMPTY, Run, Tables, rows

NUMBERS = "the numbers that are missing"
"""What is needed where a table lacks rows or values."""
ABSENT = "not in this run"
"""Why there is no estimate of a task that the run leaves out."""

Name = tuple[str, ...]
"""Values of the columns ``each`` that name one of the things compared."""


def gather(question: Question, tasks: Sequence[str], tables: Tables, run: Run) -> list[Estimate]:
    """An estimate for each of the things that a question is about.

    Args:
        question: The question.
        tasks: Tasks that it is about.
        tables: The run's tables.
        run: The run.

    Raises:
        UnansweredError: A table is missing.
    """
    frame = rows(question, tables, run)
    each = [column for column in question.each if column in frame.columns]
    unlearned = tables.unlearned() if question.is_about_tuned(tables.declared) else {}
    parts = {
        name: _estimates_by_seed(question, _labelled(each, name), group, run, unlearned)
        for name, group in _groups(question, each, tasks, frame, run).items()
    }
    pooled = spread([part.value for part in found] for found in parts.values())
    bounds = question.possible(tables.declared)
    return [
        replace(_estimate(question, found, pooled, run), bounds=bounds) for found in parts.values()
    ]


def why_empty(question: Question) -> str:
    """Why nothing was found, such as ``mean_differences.csv has no rows with tasks 7``."""
    said = f"{_file(question)} {EMPTY}"
    wanted = ", ".join(_condition(column, value) for column, value in question.where.items())
    return f"{said} with {wanted}" if wanted else said


def _condition(column: str, wanted: object) -> str:
    """What the rows of a question have in a column."""
    if wanted is None:
        return f"no {column}"
    values = wanted if isinstance(wanted, tuple) else (wanted,)
    return f"{column} {' or '.join(map(str, values))}"


def _groups(
    question: Question, each: Sequence[str], tasks: Sequence[str], frame: pd.DataFrame, run: Run
) -> dict[Name, pd.DataFrame]:
    """Rows of each of the things; of those that are expected but not there, none."""
    if not each:
        return {(): frame}
    found = list(zip(*(frame[column].astype(str) for column in each), strict=True))
    names = _expected(question, each, tasks, frame)
    kept = [name for name in names if name in set(found) or _is_needed(question, name, run)]
    return {name: frame[[other == name for other in found]] for name in kept}


def _expected(
    question: Question, each: Sequence[str], tasks: Sequence[str], frame: pd.DataFrame
) -> list[Name]:
    """Names of the things that the statement is about, whether or not the run has them."""
    return list(itertools.product(*(_values(question, name, tasks, frame) for name in each)))


def _values(
    question: Question, column: str, tasks: Sequence[str], frame: pd.DataFrame
) -> list[str]:
    """Values of a column that are expected: tasks, those of the entry, or those found."""
    if column == "task":
        return list(tasks)
    wanted = question.where.get(column)
    if wanted is None:
        return [str(value) for value in frame[column].unique()]
    return list(map(str, wanted)) if isinstance(wanted, tuple) else [str(wanted)]


def _is_needed(question: Question, name: Name, run: Run) -> bool:
    """Whether something without rows leaves a statement open."""
    claimed = question.extreme.which if question.extreme else ()
    return not question.if_present or name[0] not in run.tasks or name[-1] in claimed


def _labelled(each: Sequence[str], name: Name) -> Name:
    """Values with the names of columns that are numbers, such as ``layer 3``."""
    return tuple(
        f"{column} {value}" if value.isdigit() else value
        for column, value in zip(each, name, strict=True)
    )


def _estimates_by_seed(
    question: Question,
    name: Name,
    group: pd.DataFrame,
    run: Run,
    unlearned: Mapping[str, str],
) -> list[Estimate]:
    """The estimates of one thing: one for each seed, or a single one without seeds.

    Models that have not learned their task decide nothing: of it, or of all tasks together.
    """
    if "task" in question.each and name and name[0] not in run.tasks:
        return [Estimate.missing(name, ABSENT, f"{A_TASK}{name[0]}")]
    if lacking := [task for task in _tasks(question, name, group, unlearned) if task in unlearned]:
        said = "; ".join(f"{task} is not learned ({unlearned[task]})" for task in lacking)
        return [Estimate.missing(name, said, f"models that learn {', '.join(lacking)}")]
    if group.empty:
        return [Estimate.missing(name, why_empty(question), NUMBERS)]
    if "seed" in group and group["seed"].notna().any():
        seeds = [seed for _, seed in group.groupby("seed")]
        return [replace(_one(question, name, seed), seeds=1) for seed in seeds]
    found = _one(question, name, group)
    return [replace(found, seeds=int(group["seeds"].min())) if "seeds" in group else found]


def _tasks(
    question: Question, name: Name, group: pd.DataFrame, every: Iterable[str]
) -> Iterable[str]:
    """Tasks that numbers are of, and that chose what is scored; ``every`` if rows do not say."""
    if "task" in question.each:
        return (*name[:1], *(group["chosen_on"].unique() if "chosen_on" in group else ()))
    return group["on"].unique() if "on" in group else every


def _one(question: Question, name: Name, group: pd.DataFrame) -> Estimate:
    """The estimate of one row, or of the sum of several."""
    parts = [_row_estimate(question, name, row) for row in group.to_dict("records")]
    if question.add:
        return total(parts)
    if len(parts) > 1:
        raise ValueError(
            f"{question.table}: {len(parts)} rows of {name}; the claim's entry must tell them apart"
        )
    return parts[0]


def _row_estimate(question: Question, name: Name, row: Mapping[Any, Any]) -> Estimate:
    value = float(row["value"])
    if question.exact:
        return Estimate(name, value, value, value)
    if question.test:
        return Estimate(name, value, min(0.0, value), value)
    low, high = (float(row.get(end, math.nan)) for end in ("low", "high"))
    return Estimate(name, value, low, high, allowed=(row.get(BELOW, 0.0), row.get(ABOVE, 0.0)))


def _estimate(question: Question, parts: Sequence[Estimate], pooled: Spread, run: Run) -> Estimate:
    """The mean over seeds, and why it cannot decide: no value, no interval, too few seeds."""
    estimate = average_over_seeds(parts, pooled) if len(parts) > 1 else parts[0]
    if estimate.unknown:
        return estimate
    if why := _what_is_missing(question, estimate):
        return replace(estimate, unknown=why, lacks=NUMBERS)
    if (seeds := estimate.seeds) is None:
        return estimate
    configured = run.seeds_of(estimate.name[0] if "task" in question.each else None)
    if seeds < configured:
        said = f"{_file(question)} has {_seeds(seeds)} of {configured}"
        return replace(estimate, unknown=said, lacks=f"all {configured} seeds")
    if seeds < question.seeds:
        return replace(
            estimate, unknown=_seeds(seeds), lacks=f"at least {_seeds(question.seeds)} of each task"
        )
    return estimate


def _what_is_missing(question: Question, estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return f"{_file(question)} has no value"
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return f"{_file(question)} has no interval"
    return ""


def _file(question: Question) -> str:
    return " ".join(f"{name}.csv" for name in question.sources) or question.table


def _seeds(number: int) -> str:
    return "one seed" if number == 1 else f"{number} seeds"
