"""Table 1: scores of the states of the model on every task, and their differences (section 4.3)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from darksecrets.core.data.metrics import METRICS
from darksecrets.core.plotting.drawing import Sources
from darksecrets.core.run import learned
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.numbers import written, written_plus_minus
from darksecrets.core.run.states import (
    FINETUNED,
    FROM_NORMAL,
    FROZEN,
    PRETRAINED,
    STATE_NAMES,
)
from darksecrets.core.stats import LEVEL
from darksecrets.core.words import listed
from darksecrets.paper.finetuning import tables
from darksecrets.paper.finetuning.comparison import gain_metric
from darksecrets.paper.finetuning.published import PAPER_STATES, read_paper

STATES = {state: STATE_NAMES[state] for state in (PRETRAINED, FROZEN, FROM_NORMAL, FINETUNED)}
"""The states, in the order of the paper's table, with their names in the headings."""

_COLUMNS = ["task", "state", "metric", "score"]


@dataclass(frozen=True)
class Table1:
    """What the table is made of; `markdown`, `html` and `latex` write it.

    Attributes:
        scores: Table `tables.SCORES`.
        means: Table `tables.SCORE_MEANS`, whose intervals stand beside the scores.
        differences: Table `tables.SCORE_DIFFERENCES`, shown below them.
        averaged: Table `tables.MEAN_DIFFERENCES`.
        tasks: The tasks to show, in this order, with their metrics.
        label: The run, its model and its data in a few words.
        baselines: Columns ``task``, ``baseline``, ``metric``, ``score`` (×100), or None.
        sizes: Columns ``task``, ``split``, ``examples``, or None.
        paper: The paper's table from `read_paper`, shown beside ours. None for a run on other data
            or another model, because its numbers are for bert-base-uncased on GLUE.
        unlearned: Tasks that fine-tuned models have not learned, with their scores in words.
        failed: Single fine-tunings that have not learned a task that others have, in words.
    """

    scores: pd.DataFrame
    means: pd.DataFrame
    differences: pd.DataFrame
    averaged: pd.DataFrame
    tasks: Mapping[str, Sequence[str]]
    label: str
    baselines: pd.DataFrame | None = None
    sizes: pd.DataFrame | None = None
    paper: pd.DataFrame | None = None
    unlearned: Mapping[str, str] = field(default_factory=dict)
    failed: Sequence[str] = ()

    def __post_init__(self) -> None:
        missing = [name for name in [*_COLUMNS, "seed"] if name not in self.scores.columns]
        absent = [task for task in self.tasks if task not in set(self.scores.get("task", []))]
        if missing or absent:
            raise InputError(
                f"The table of scores lacks {', '.join([*missing, *absent])}; expected the columns"
                f" {', '.join([*_COLUMNS, 'seed'])} and rows of {', '.join(self.tasks)}."
                " Make the table again."
            )


@dataclass(frozen=True)
class Part:
    """Half of the table: the scores, or their differences.

    Attributes:
        cells: Texts, a row for every metric of a task. Columns have a group and a heading.
        notes: Sentences that stand below.
    """

    cells: pd.DataFrame
    notes: list[str]


_ABSENT = "—"
_CSS = """
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 1.5em; color: #222; background: #fff; }
div { overflow-x: auto; }
table { border-collapse: collapse; border-block: 2px solid; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; text-align: right; white-space: nowrap; }
th[colspan] { text-align: center; }
th:nth-child(-n+2):not([colspan]), td:nth-child(-n+2) { text-align: left; }
td:first-child { font-weight: bold; }
tbody tr:first-child td, tr:has(td:first-child:not(:empty)) td { border-top: 1px solid #8888; }
ul { padding-left: 1.2em; max-width: 60em; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #16181c; } }
"""


def draw(sources: Sources) -> dict[str, str]:
    """Write Table 1 from a run's tables, with the paper's numbers if they are among them."""
    published = sources.paths("published")
    rows = sources.table(tables.LEARNED).to_dict("records")
    table = Table1(
        scores=sources.table(tables.SCORES),
        means=sources.table(tables.SCORE_MEANS),
        differences=sources.table(tables.SCORE_DIFFERENCES),
        averaged=sources.table(tables.MEAN_DIFFERENCES),
        tasks=sources.metrics,
        label=sources.label,
        baselines=sources.table(tables.BASELINES),
        sizes=read_sizes(dict(zip(sources.tasks, sources.paths("data"), strict=True))),
        paper=read_paper(published[0]) if published else None,
        unlearned=learned.unlearned(rows),
        failed=learned.failed(rows),
    )
    formats = {"md": markdown(table), "html": html(table), "tex": latex(table)}
    return {f"table1.{suffix}": text for suffix, text in formats.items()}


def read_sizes(folders: Mapping[str, Path]) -> pd.DataFrame:
    """Read the number of examples of each task from the summary beside its data.

    Args:
        folders: For every task the folder ``results/<run>/data/<task>/``, whose ``summary.json``
            was made by `darksecrets.core.data.checks.check`.

    Returns:
        Columns ``task``, ``split``, ``examples``.

    Raises:
        InputError: The summary lacks a number of examples.
    """
    rows = []
    for task, folder in folders.items():
        path = folder / "summary.json"
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            rows += [(task, split, data[split]["examples"]) for split in ("train", "validation")]
        except (OSError, KeyError, json.JSONDecodeError) as error:
            raise InputError(
                f"{path} does not say how many examples there are ({error!r}): train/examples and"
                f" validation/examples are missing. Remove {folder} and run again."
            ) from error
    return pd.DataFrame(rows, columns=["task", "split", "examples"])


def gain(scores: pd.DataFrame, tasks: Mapping[str, Sequence[str]]) -> tuple[float, list[str]]:
    """Mean over tasks of `finetuned` − `pretrained` in the paper's table (section 4.3).

    Args:
        scores: Columns ``task``, ``state``, ``metric``, ``score``.
        tasks: The metrics of every task.

    Returns:
        Points, and the tasks that have both scores; NaN and an empty list if there are none.
    """
    differences = {}
    for task, metrics in tasks.items():
        rows = scores[(scores["task"] == task) & (scores["metric"] == gain_metric(metrics))]
        score = rows.set_index("state")["score"]
        if {"finetuned", "pretrained"} <= set(score.index):
            differences[task] = float(score["finetuned"] - score["pretrained"])
    return float(pd.Series(differences, dtype=float).mean()), list(differences)


def markdown(table: Table1) -> str:
    """Write Table 1 as Markdown, with notes and the table of differences below."""
    lines: list[str] = []
    for part in parts(table):
        headings = [_one_line(*column) for column in _headings(part.cells)]
        cells = part.cells.set_axis(headings, axis=1)
        aligned = ["left", "left", *["right"] * (len(cells.columns) - 2)]
        lines.append(cells.to_markdown(index=False, colalign=aligned, disable_numparse=True))
        lines += ["", *(f"- {note}" for note in part.notes), ""]
    return "\n".join(lines)


def _headings(cells: pd.DataFrame) -> list[tuple[str, str]]:
    """Group and heading of every column."""
    groups, names = (cells.columns.get_level_values(level) for level in (0, 1))
    return list(zip(groups, names, strict=True))


def _one_line(group: str, name: str) -> str:
    """A heading that says what group it belongs to, if this is not plain."""
    if group == "paper":
        return f"{name} ({group})"
    return f"{group} {name}" if group.endswith("−") else name


def html(table: Table1) -> str:
    """Write Table 1 as an HTML page: Snakemake's report shows HTML, but not Markdown."""
    lines = [
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Table 1</title>\n<style>{_CSS}</style>",
    ]
    for part in parts(table):
        notes = "".join(f"<li>{escape(note)}</li>\n" for note in part.notes)
        lines.append(f"<div>{part.cells.to_html(index=False, border=0)}</div>\n<ul>{notes}</ul>")
    return "\n".join([*lines, "</html>\n"])


def latex(table: Table1) -> str:
    """Write Table 1 as a LaTeX float over both columns; it needs the package booktabs."""
    scores, differences = parts(table)
    notes = " ".join(_escape(note) for note in [*scores.notes, *differences.notes])
    lines = [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table*}",
        r"\centering\scriptsize",
        r"\setlength{\tabcolsep}{2pt}",
        _tabular(scores.cells),
        r"\medskip",
        "",
        _tabular(differences.cells),
        rf"\caption{{{notes}}}",
        r"\label{tab:table1}",
        r"\end{table*}",
        "",
    ]
    return "\n".join(lines)


def _tabular(cells: pd.DataFrame) -> str:
    """Cells as a LaTeX table."""
    escaped = cells.map(_compact)
    escaped.columns = pd.MultiIndex.from_tuples(
        [(_escape(group), _stacked(name)) for group, name in _headings(cells)]
    )
    numbers = "r" * (len(cells.columns) - 2)
    return escaped.style.hide(axis="index").to_latex(
        hrules=True, multicol_align="c", column_format=f"@{{}}ll{numbers}@{{}}"
    )


def _compact(text: str) -> str:
    """Text in LaTeX, with the interval of a number in small type, to save width."""
    return re.sub(r"\$\\pm\$ ([\d.]+)", r"$_{\\pm \1}$", _escape(text)).replace(" $_", "$_")


def _stacked(name: str) -> str:
    """A heading in LaTeX, with every part of a word on a line of its own, to save width."""
    words = _escape(name.replace("-", "- ")).split(" ")
    lines = r"\\".join(words)
    return rf"\shortstack[r]{{{lines}}}" if len(words) > 1 else lines


def parts(table: Table1) -> tuple[Part, Part]:
    """The scores, and their differences."""
    return Part(_scores(table), _notes(table)), Part(
        _differences(table), _notes_on_differences(table)
    )


_Cells = dict[tuple[str, str], list[str]]
"""Texts of every column, by its group and heading."""
_Row = Mapping[Any, Any]


def _scores(table: Table1) -> pd.DataFrame:
    """Cells of the scores."""
    cells = _tasks_and_metrics(table)
    if table.sizes is not None:
        totals = table.sizes.groupby("task")["examples"].sum()
        cells["", "size"] = _task_column({task: f"{totals[task]:,}" for task in table.tasks}, table)
    means = table.means.assign(
        unlearned=table.means["task"].isin(list(table.unlearned))
        & (table.means["model"] == "finetuned")
    )
    for state, heading in STATES.items():
        cells["ours", heading] = _column(means[means["model"] == state], table, _score)
    if table.baselines is not None:
        for name, rows in table.baselines.groupby("baseline", sort=False):
            cells["baselines", str(name)] = _column(rows, table, _plain)
    if table.paper is not None:
        for state in PAPER_STATES:
            rows = table.paper[table.paper["state"] == state]
            cells["paper", STATES[state]] = _column(rows, table, _plain)
        sizes = zip(table.paper["task"], table.paper["size"], strict=True)
        cells["paper", "size"] = _task_column(dict(sizes), table)
    return pd.DataFrame(cells)


def _differences(table: Table1) -> pd.DataFrame:
    """Cells of the differences; the last row is the mean over the tasks."""
    cells = _tasks_and_metrics(table)
    cells["", "Task"].append("mean")
    cells["", "Metric"].append("")
    names = {**STATES, "majority": "majority"}
    for averaged in table.averaged.to_dict("records"):
        model, reference = averaged["model"], averaged["reference"]
        pair_rows = table.differences[
            (table.differences["model"] == model) & (table.differences["reference"] == reference)
        ]
        column = [*_column(pair_rows, table, _difference), _difference(averaged)]
        cells[f"{names[model]} −", names[reference]] = column
    return pd.DataFrame(cells)


def _tasks_and_metrics(table: Table1) -> _Cells:
    """The first two columns; a task is named in the row of its first metric."""
    titles = [METRICS[metric].title for metrics in table.tasks.values() for metric in metrics]
    named = _task_column({task: task for task in table.tasks}, table)
    return {("", "Task"): named, ("", "Metric"): titles}


def _task_column(texts: Mapping[str, str], table: Table1) -> list[str]:
    """A column with something about each task, in the row of its first metric."""
    column = []
    for task, metrics in table.tasks.items():
        column += [texts.get(task, _ABSENT), *[""] * (len(metrics) - 1)]
    return column


def _column(rows: pd.DataFrame, table: Table1, write: Callable[[_Row], str]) -> list[str]:
    """A column with a text for every metric of every task, or the mark for what is missing."""
    texts = {(row["task"], row["metric"]): write(row) for row in rows.to_dict("records")}
    wanted = [(task, metric) for task, metrics in table.tasks.items() for metric in metrics]
    return [texts.get(each, _ABSENT) for each in wanted]


def _plain(row: _Row) -> str:
    """A score without an interval."""
    return written(row["score"], ".1f")


def _score(row: _Row) -> str:
    """A score with its interval, marked if the prediction is constant, or the task not learned."""
    text = written_plus_minus(row["score"], row["ci_low"], row["ci_high"])
    return text + learned.marks(constant=row["constant"], unlearned=row["unlearned"])


def _difference(row: _Row) -> str:
    """A difference with its interval, marked if it is significant."""
    text = written_plus_minus(row["difference"], row["ci_low"], row["ci_high"], "+.1f")
    return f"{text}*" if row["q_value"] < LEVEL else text


def _notes(table: Table1) -> list[str]:
    """The notes below the scores, in sentences."""
    notes = [
        f"Scores × 100 on the validation set, {_seeds(table.scores)}.",
        "Pre-trained: nothing fine-tuned, the classifier freshly drawn. Frozen: only the classifier"
        " trained, on the pre-trained encoder.",
        *_constants_note(table.scores),
        *_unlearned_notes(table),
    ]
    if regressions := [
        task for task, metrics in table.tasks.items() if METRICS[metrics[0]].counted is None
    ]:
        notes.append(
            f"The sign of an untrained regression's output is arbitrary: for {listed(regressions)}"
            " (pre-trained), it is the one that fits the training split better."
        )
    if table.paper is not None and table.sizes is not None:
        notes.append(
            "Sizes: ours are those of the training and validation sets; the paper's include the"
            " test sets of MRPC and STS-B."
        )
    return [*notes, f"{table.label[0].upper()}{table.label[1:]}."]


def _notes_on_differences(table: Table1) -> list[str]:
    """The notes below the differences, in sentences."""
    metrics = {task: gain_metric(metrics) for task, metrics in table.tasks.items()}
    notes = [
        "Differences of scores on the same examples and seeds ± half of their 95 % intervals;"
        f" * = q < {LEVEL:g}, the false discovery rate over all of them (in the last row, over the"
        " means).",
    ]
    chosen = table.averaged[
        (table.averaged["model"] == "finetuned") & (table.averaged["reference"] == "pretrained")
    ]
    for row in chosen.to_dict("records"):
        ends = (row[name] for name in ("difference", "ci_low", "ci_high"))
        mean, low, high = (written(end, ".1f") for end in ends)
        over = f"mean over {row['tasks']} tasks of the " if row["tasks"] > 1 else ""
        notes.append(
            f"Fine-tuned − pre-trained: {mean} points (95 % interval {low} to {high}), the"
            f" {over}difference in"
            f" {_gained(metrics)}."
        )
    if table.paper is not None:
        theirs, both = gain(table.paper, table.tasks)
        which = f"{len(both)} of these tasks" if len(both) < len(table.tasks) else "the same tasks"
        notes.append(f"In the paper: {written(theirs, '.1f')} points over {which}.")
    return notes


def _constants_note(scores: pd.DataFrame) -> list[str]:
    """The note on models that predict the same for every example, with their numbers of seeds."""
    models = scores.drop_duplicates(["task", "state", "seed"])
    counts = models.groupby(["state", "task"], sort=False)["constant"].agg(["sum", "size"])
    tasks: dict[str, list[str]] = {}
    for row in counts[counts["sum"] > 0].reset_index().to_dict("records"):
        seeds = f" ({row['sum']} of {row['size']} seeds)" if row["size"] > 1 else ""
        tasks.setdefault(row["state"], []).append(f"{row['task']}{seeds}")
    if not tasks:
        return []
    said = "; ".join(f"{STATES[state]} on {listed(names)}" for state, names in tasks.items())
    return [f"{learned.CONSTANT} Predicts the same for every example: {said}."]


def _unlearned_notes(table: Table1) -> list[str]:
    """Notes on tasks, and on single fine-tunings, that have not learned."""
    notes = []
    why = f"{learned.WHY[0].upper()}{learned.WHY[1:]}"
    if table.unlearned:
        said = "; ".join(f"{task} ({scores})" for task, scores in table.unlearned.items())
        notes.append(f"{learned.MARK} Has not learned the task: {said}. {why}.")
    if table.failed:
        said = "; ".join(table.failed)
        notes.append(f"Fine-tunings that failed and are in the means: {said}. {why}.")
    return notes


def _gained(metrics: Mapping[str, str]) -> str:
    """Name the metric of every task's difference: accuracy, and those of other tasks."""
    others = [
        f"{_CORRELATIONS.get(metric, METRICS[metric].title)} for {task}"
        for task, metric in metrics.items()
        if metric != "accuracy"
    ]
    if len(others) == len(metrics):
        return ", ".join(others)
    return f"accuracy ({', '.join(others)})" if others else "accuracy"


_CORRELATIONS = {
    "pearson": "Pearson's correlation",
    "spearman": "Spearman's correlation",
    "matthews_corrcoef": "Matthews' correlation",
}
"""Full names of correlations."""


def _seeds(scores: pd.DataFrame) -> str:
    """Say how many seeds the numbers are from, and name the models with another number."""
    counts = scores.groupby(["task", "state"], sort=False)["seed"].nunique().reset_index(name="n")
    usual = int(counts["n"].mode().max())
    others = [f"{r.n} for {r.task} {r.state}" for r in counts.itertuples() if r.n != usual]
    several = counts["n"].max() > 1
    over = "examples and seeds" if several else "examples"
    text = f"{'means over ' if several else ''}n = {usual} seed{'s' if usual > 1 else ''}"
    text += f" ({', '.join(others)})" if others else ""
    return f"{text}, ± half of the 95 % interval over {over}"


def _escape(text: str) -> str:
    """Escape text for LaTeX."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {letter: rf"\{letter}" for letter in "&%$#_{}"}
    special |= {
        "×": r"$\times$",
        "±": r"$\pm$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "·": r"$\cdot$",
        "—": "--",
        "−": "$-$",
    }
    return "".join(special.get(letter, letter) for letter in text)
