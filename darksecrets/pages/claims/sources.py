"""The tables of a run, as far as they can be trusted, and the rows that a question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.learned import TABLE as LEARNED
from darksecrets.core.run.learned import unlearned
from darksecrets.core.run.shown import ends
from darksecrets.core.run.states import RANDOM
from darksecrets.core.run.tables import Table
from darksecrets.pages.claims import failures
from darksecrets.pages.claims.registry import Question

STATE = "state"
EMPTY = "has no rows"
"""What is said of a table without rows, or without those that a question is about."""


class UnansweredError(Exception):
    """Why a question has no rows, in words."""


@dataclass(frozen=True)
class Run:
    """What a run is.

    Attributes:
        tasks: Its tasks, with their metrics, the main one first.
        seeds: The fine-tuning seeds of each of its tasks.
        shared: Data that it shares with papers, such as ``GLUE``, with the paper's model.
    """

    tasks: Mapping[str, Sequence[str]]
    seeds: Mapping[str, Sequence[int]]
    shared: Sequence[str] = ()

    def seeds_of(self, task: str | None) -> int:
        """Number of a task's seeds; without one, that of the task with the fewest."""
        seeds = self.seeds.values() if task is None else [self.seeds[task]]
        return min(map(len, seeds))


@dataclass(frozen=True)
class Tables:
    """Tables by name, and why others are missing.

    Attributes:
        frames: Tables that were read.
        declared: All declarations by name.
        missing: Why a table cannot be used, by name.
    """

    frames: Mapping[str, pd.DataFrame]
    declared: Mapping[str, Table]
    missing: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def get(self, name: str) -> pd.DataFrame:
        """A table.

        Raises:
            UnansweredError: The run has none, or it has no rows.
        """
        if name not in self.frames:
            why = self.missing.get(name, "is not made by this run")
            raise UnansweredError(f"{self.file(name)} {why}")
        if self.frames[name].empty:
            raise UnansweredError(f"{self.file(name)} {EMPTY}")
        return self.frames[name]

    def unlearned(self) -> dict[str, str]:
        """Tasks that fine-tuned models have not learned, with their scores in words.

        Raises:
            UnansweredError: The table that says so is damaged.
        """
        known = LEARNED in self.frames or LEARNED in self.missing
        return unlearned(self.get(LEARNED).to_dict("records")) if known else {}

    def drop(self, name: str) -> Tables:
        """The same without one table, as if the run did not make it."""
        frames = {key: frame for key, frame in self.frames.items() if key != name}
        missing = {key: why for key, why in self.missing.items() if key != name}
        return Tables(frames, self.declared, missing)

    def take_random_weights(self) -> Tables:
        """The same with the rows of the encoder that was never trained as those of trained ones.

        Tables without such rows, which say nothing of it, are left out; so is what it has learned.
        """
        frames = {
            name: _relabel_random(frame)
            for name, frame in self.frames.items()
            if STATE in frame and (frame[STATE] == RANDOM).any()
        }
        return Tables(frames, self.declared)

    def file(self, name: str) -> str:
        """Name of a table's file."""
        return self.declared[name].file if name in self.declared else f"{name}.csv"


def _relabel_random(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of random weights, and the same again in place of those of other states."""
    random = frame[frame[STATE] == RANDOM]
    others = [state for state in frame[STATE].unique() if state != RANDOM]
    return pd.concat([random, *(random.assign(**{STATE: state}) for state in others)])


def read(paths: Sequence[Path], declared: Mapping[str, Table]) -> Tables:
    """Read the tables of a run.

    A table that is missing or damaged is left out with the reason: claims are decided without it.

    Args:
        paths: The tables.
        declared: All declarations by name.
    """
    frames, missing = {}, {}
    for path in paths:
        if not path.is_file():
            missing[path.stem] = "is missing"
        else:
            try:
                frames[path.stem] = declared[path.stem].read(path)
            except InputError:
                missing[path.stem] = "does not match its declaration"
    return Tables(frames, declared, missing)


def rows(question: Question, tables: Tables, run: Run) -> pd.DataFrame:
    """Rows that a question is about, with columns ``value``, ``low`` and ``high``.

    Raises:
        UnansweredError: A table is missing.
    """
    frame = _source(question, tables)
    if unknown := {*question.where, "value"} - set(frame.columns):
        raise UnansweredError(f"{question.table} has no column {', '.join(sorted(unknown))}")
    for column, wanted in question.where.items():
        frame = frame[_matches(frame[column], wanted)]
    if question.metric:
        frame = frame[_scored_by(question.metric, frame, run)]
    return frame


def _matches(values: pd.Series[Any], wanted: object) -> pd.Series[bool]:
    """Rows with a value, with one of several, or, for None, with none."""
    if wanted is None:
        return values.isna() | (values.astype(str) == "")
    return values.isin(wanted if isinstance(wanted, tuple) else [wanted])


def _source(question: Question, tables: Tables) -> pd.DataFrame:
    """The table with the interval's columns renamed; no columns ``low`` if there is no interval."""
    if question.function:
        return question.function(*map(tables.get, question.tables))
    frame = tables.get(question.table)
    interval = ends(tables.declared[question.table], question.value)
    names = dict(zip((question.value, *interval), ("value", "low", "high"), strict=False))
    others = [name for name in names.values() if name in frame.columns and name not in names]
    frame = frame.drop(columns=others).rename(columns=names)
    return failures.allowed_for(frame) if question.table == failures.TABLE else frame


def _scored_by(metric: str, frame: pd.DataFrame, run: Run) -> list[bool]:
    """Rows of a metric, or of the main metric of a task that is not scored by it."""
    wanted = {
        task: metric if metric in metrics or not metrics else metrics[0]
        for task, metrics in run.tasks.items()
    }
    pairs = zip(frame["task"], frame["metric"], strict=True)
    return [wanted.get(task) == name for task, name in pairs]
