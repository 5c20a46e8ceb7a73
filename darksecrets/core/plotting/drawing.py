"""The interface of all functions that draw: ``draw(sources)``.

It reads a figure's tables and returns a figure; or several figures, by file name without suffix; or
texts, by file name with suffix. `draw_figures` calls those of a rule and writes what they return.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure

from darksecrets.core.plotting.style import save
from darksecrets.core.run import learned
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import write_text
from darksecrets.core.run.states import FINETUNED
from darksecrets.core.run.tables import Table

if TYPE_CHECKING:
    from darksecrets.core.run.job import Job

_log = logging.getLogger("darksecrets")

Drawn = Figure | Mapping[str, Figure] | Mapping[str, str]


@dataclass(frozen=True)
class Sources:
    """Inputs of a figure.

    Attributes:
        paths: Returns the files of an input: a table by its name, another file by its name
            without suffix; empty if the run has no such input.
        metrics: Metrics of the tasks to draw, in this order; the main metric of a task is first.
        label: Short description of the run, its model and its data, for the small print.
        options: Settings of the figure by name.
    """

    paths: Callable[[str], Sequence[Path]]
    metrics: Mapping[str, Sequence[str]]
    label: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def tasks(self) -> list[str]:
        """Tasks to draw, in this order."""
        return list(self.metrics)

    @property
    def main_metrics(self) -> dict[str, str]:
        """The main metric of every task."""
        return {task: metrics[0] for task, metrics in self.metrics.items()}

    @property
    def unlearned(self) -> set[str]:
        """Tasks drawn that fine-tuned models have not learned, as far as an input says so."""
        return self._unlearned() & {*self.tasks}

    @property
    def averaged(self) -> list[str]:
        """Tasks whose mean is drawn: those that were learned, or all if none was."""
        return [task for task in self.tasks if task not in self.unlearned] or self.tasks

    def headline(self, describe: Callable[[list[str]], str]) -> str:
        """A sentence about fine-tuned models, see `darksecrets.core.run.learned`."""
        return learned.describe_learned(describe, self.tasks, self.unlearned)

    def marked(self, task: str) -> str:
        """A task's name, with a mark if fine-tuned models have not learned it."""
        return f"{task}{learned.MARK}" if task in self.unlearned else task

    def keep_learned(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of a table of which those of fine-tuned models are of `averaged` tasks only."""
        of_others = (table["state"] == FINETUNED) & ~table["task"].isin(self.averaged)
        return table[~of_others]

    def _unlearned(self) -> set[str]:
        return {*learned.read(*self.paths(learned.TABLE))}

    def file(self, name: str) -> Path:
        """The file of an input that has exactly one."""
        (path,) = self.paths(name)
        return path

    def table(self, declared: Table) -> pd.DataFrame:
        """A table, checked against its declaration; `pick` names it in messages."""
        table = declared.read(self.file(declared.name))
        table.attrs["file"] = declared.file
        return table


class Given(Sources):
    """Tables in memory, by their names, as the inputs of a figure, such as in a notebook."""

    _tables: Mapping[str, pd.DataFrame]

    def __init__(
        self, metrics: Mapping[str, Sequence[str]], label: str = "", **tables: pd.DataFrame
    ) -> None:
        super().__init__(lambda _: [], metrics, label, {"scale": "data"})
        object.__setattr__(self, "_tables", tables)

    def _unlearned(self) -> set[str]:
        rows = self._tables.get(learned.TABLE, pd.DataFrame()).to_dict("records")
        return {*learned.unlearned(rows)}

    def table(self, declared: Table) -> pd.DataFrame:
        """The table that was given by its name."""
        table: pd.DataFrame = self._tables[declared.name].copy()
        table.attrs["file"] = declared.file
        return table


def pick(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Rows of a table with these values of its columns: one value, or any of several.

    Raises:
        InputError: There are none.
    """
    rows = table
    for name, value in values.items():
        rows = rows[rows[name].isin(_values(value))]
    if rows.empty:
        wanted = ", ".join(f"{name} {_listed(value)}" for name, value in values.items())
        raise InputError(
            f"The table {table.attrs.get('file', '')} has no rows with {wanted}. Make it again."
        )
    return rows


def _values(value: object) -> list[object]:
    """The values that a column may have: those of a collection, or the one value."""
    return list(value) if isinstance(value, list | tuple | set | dict) else [value]


def _listed(value: object) -> str:
    return " or ".join(map(str, _values(value)))


def draw_figures(job: Job, **functions: Callable[[Sources], Drawn]) -> None:
    """Draw the figures of a rule, and write each in every format of the rule's outputs.

    An input with the name of a figure has its own tables; other inputs are there for all.

    Args:
        job: The rule's job. Its parameters are ``metrics`` (of the tasks to draw), ``captions`` (as
            plain text, by figure), ``label`` (of the run) and possibly ``options``.
        functions: The function that draws a figure, by its name; those that the rule does not make
            are not called.
    """
    options = job.params.get("options", {})
    for name, draw in functions.items():
        files = [path for path in job.output if path.stem == name]
        if not files:
            continue
        _log.info("Drawing %s", name)
        paths = partial(_files_of, job, name)
        drawn = draw(Sources(paths, job.params.metrics, job.params.label, options))
        described = describe(job.params.captions[name], job.params.label)
        write(drawn, files, script=draw.__module__, **described)


def _files_of(job: Job, figure: str, name: str) -> list[Path]:
    own = [path for path in job.input.all(figure) if path.stem == name]
    return own or job.input.all(name)


def describe(caption: str, label: str) -> dict[str, str]:
    """Title and description of a figure, for `write`.

    Args:
        caption: Its caption as plain text; the first line says what is shown.
        label: The run and its data.
    """
    shown, *details = caption.splitlines()
    return {"title": f"{shown} {label}", "description": " ".join(details)}


def write(
    drawn: Drawn, paths: Iterable[Path], *, script: str, title: str, description: str = ""
) -> None:
    """Write what ``draw`` returned to the output files of a rule.

    Args:
        drawn: One figure for all files; or figures or texts, by name.
        paths: Files to write, each atomically; the suffix determines a figure's format.
        script: The module that draws, such as ``darksecrets.paper.finetuning.figures.figure5``.
        title: What the figure shows, from which run.
        description: The same in detail, for readers who do not see the figure.
    """
    for path in paths:
        if isinstance(drawn, Figure):
            page: Figure | str = drawn
        else:
            page = drawn[path.name if path.name in drawn else path.stem]
        if isinstance(page, str):
            write_text(page, path)
        else:
            save(page, [path], script=script, title=title, description=description)
