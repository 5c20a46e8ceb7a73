"""Table 1: scores of the states of the model on every task, and their differences (section 4.3)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from darksecrets.data.metrics import METRICS
from darksecrets.finetuning import tables
from darksecrets.finetuning.comparison import gain_metric
from darksecrets.finetuning.published import PAPER_STATES, read_paper
from darksecrets.plotting.drawing import Sources
from darksecrets.run import learned
from darksecrets.run.errors import InputError
from darksecrets.run.numbers import written
from darksecrets.stats import LEVEL

STATES = {
    "pretrained": "pretrained",
    "frozen": "frozen",
    "finetuned-from-normal": "random init.",
    "finetuned": "finetuned",
}
"""The states, in the order of the paper's table, with short names for the headings."""
CONSTANT = "†"
"""Marks of models that predict the same for every example, and that have not learned their task."""

_COLUMNS = ["task", "state", "metric", "score"]


@dataclass(frozen=True)
class Table1:
    """Content of the table; `markdown`, `html` and `latex` write it.

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
class _Markup:
    """How an output format writes numbers."""

    interval: str
    """Template of a number and half of its interval."""
    constant: str
    """Mark of models that predict the same for every example."""
    unlearned: str
    """Mark of models that have not learned their task."""
    absent: str
    minus: str

    def number(self, value: float, form: str) -> str:
        """A number in a format such as ``.1f``, with a real minus sign."""
        return written(value, form).replace("−", self.minus)


_PLAIN = _Markup(
    interval="{value} ± {reach:.1f}",
    constant=CONSTANT,
    unlearned=learned.MARK,
    absent="—",
    minus="−",
)
_LATEX = _Markup(
    interval=r"{value}$_{{\pm {reach:.1f}}}$",
    constant=r"$^\dagger$",
    unlearned=r"$^\ddagger$",
    absent="--",
    minus="$-$",
)

_CSS = """
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 1.5em; color: #222; background: #fff; }
div { overflow-x: auto; }
table { border-collapse: collapse; border-block: 2px solid; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; text-align: right; white-space: nowrap; }
th[colspan] { text-align: center; }
th:nth-child(-n+2):not([colspan]), td:nth-child(-n+2) { text-align: left; }
tbody tr:first-child td { border-top: 1px solid; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #16181c; } }
@media (max-width: 700px) { /* a row becomes a list of its cells, each with its heading */
  body { margin: 1em; }
  table, tbody, tr, td { display: block; }
  table { border: 0; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { border-top: 1px solid; padding: .4em 0; }
  tr:has(td:first-child:empty) { border-top-style: dotted; } /* another metric of the task */
  tbody tr td, tbody tr:first-child td { border: 0; padding: .1em 0; white-space: normal; }
  td { display: flex; justify-content: space-between; gap: 1em; }
  td::before { content: attr(data-heading); opacity: .75; }
  td:empty { display: none; }
  td:nth-child(1) { font-weight: bold; }
  ul { padding-left: 1.2em; overflow-wrap: anywhere; }
}
"""

_Column = tuple[str, str, list[list[str]]]
"""Group, heading, and for every task the lines of its cell: one, or one for every metric."""


def draw(sources: Sources) -> dict[str, str]:
    """Write Table 1 from a run's tables, with the paper's numbers if they are among them."""
    published = sources.paths("published")
    table = Table1(
        scores=sources.table(tables.SCORES, "scores"),
        means=sources.table(tables.SCORE_MEANS, "means"),
        differences=sources.table(tables.SCORE_DIFFERENCES, "differences"),
        averaged=sources.table(tables.MEAN_DIFFERENCES, "mean_differences"),
        tasks=sources.metrics,
        label=sources.label,
        baselines=sources.table(tables.BASELINES, "baselines"),
        sizes=read_sizes(dict(zip(sources.tasks, sources.paths("data"), strict=True))),
        paper=read_paper(published[0]) if published else None,
        unlearned=learned.unlearned(sources.table(tables.LEARNED, "learned").to_dict("records")),
    )
    formats = {"md": markdown(table), "html": html(table), "tex": latex(table)}
    return {f"table1.{suffix}": text for suffix, text in formats.items()}


def read_sizes(folders: Mapping[str, Path]) -> pd.DataFrame:
    """Read the number of examples of each task from the summary beside its data.

    Args:
        folders: For every task the folder ``results/<run>/data/<task>/``, whose ``summary.json``
            was made by `darksecrets.data.checks.check`.

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
                f"{path}: found no count of examples ({error!r}), expected train/examples and"
                f" validation/examples. Remove {folder} and run again."
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
    parts = [
        *_markdown(_columns(table, _PLAIN)),
        "",
        *(f"- {note}" for note in _notes(table)),
        "",
        *_markdown(_differences(table, _PLAIN)),
        "",
        *(f"- {note}" for note in _notes_on_differences(table)),
        "",
    ]
    return "\n".join(parts)


def _markdown(columns: Sequence[_Column]) -> list[str]:
    """Lines of a Markdown table, one row for every metric of a task."""
    header = [_one_line(group, name) for group, name, _ in columns]
    rows = _rows(columns)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    aligned = ["-" * width if i < 2 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(map(str.ljust, cells, widths)) + " |"

    return [line(header), line(aligned), *map(line, rows)]


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
        "<title>Table 1</title>",
        f"<style>{_CSS}</style>",
        *_html(_columns(table, _PLAIN), _notes(table)),
        *_html(_differences(table, _PLAIN), _notes_on_differences(table)),
        "</html>\n",
    ]
    return "\n".join(lines)


def _html(columns: Sequence[_Column], notes: Sequence[str]) -> list[str]:
    """Lines of an HTML table, one row for every metric of a task, and of the notes below."""
    groups = "".join(
        f'<th colspan="{width}">{group}</th>' for group, width in _spans([c[0] for c in columns])
    )
    headings = [f"{group} {name}".strip() for group, name, _ in columns]
    return [
        f"<div><table>\n<thead>\n<tr>{groups}</tr>",
        "<tr>" + "".join(f"<th>{escape(name)}</th>" for _, name, _ in columns) + "</tr>",
        "</thead>\n<tbody>",
        *(_html_row(headings, cells) for cells in _rows(columns)),
        "</tbody>\n</table></div>\n<ul>",
        *(f"<li>{escape(note)}</li>" for note in notes),
        "</ul>",
    ]


def _html_row(headings: Sequence[str], cells: Sequence[str]) -> str:
    """A row whose cells know their headings: on a phone, these stand beside them."""
    pairs = zip(headings, cells, strict=True)
    tags = (f'<td data-heading="{escape(name)}">{escape(cell)}</td>' for name, cell in pairs)
    return f"<tr>{''.join(tags)}</tr>"


def latex(table: Table1) -> str:
    """Write Table 1 as a LaTeX float over both columns; it needs the package booktabs."""
    notes = [*_notes(table), *_notes_on_differences(table)]
    lines = [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table*}",
        r"  \centering\scriptsize",
        r"  \setlength{\tabcolsep}{2pt}",
        *_tabular(_columns(table, _LATEX)),
        "",
        r"  \medskip",
        *_tabular(_differences(table, _LATEX)),
        rf"  \caption{{{' '.join(_escape(note) for note in notes)}}}",
        r"  \label{tab:table1}",
        r"\end{table*}",
        "",
    ]
    return "\n".join(lines)


def _tabular(columns: Sequence[_Column]) -> list[str]:
    """Lines of a LaTeX table, one row for every metric of a task."""
    return [
        rf"  \begin{{tabular}}{{@{{}}ll{'r' * (len(columns) - 2)}@{{}}}}",
        r"    \toprule",
        *(f"    {text}" for text in _spanners([group for group, _, _ in columns])),
        "    " + " & ".join(_heading(name) for _, name, _ in columns) + r" \\",
        r"    \midrule",
        *(f"    {' & '.join(row)} \\\\" for row in _rows(columns)),
        r"    \bottomrule",
        r"  \end{tabular}",
    ]


def _rows(columns: Sequence[_Column]) -> list[list[str]]:
    """One row for every line of a task's cells."""
    rows: list[list[str]] = []
    for task in zip(*(cells for _, _, cells in columns), strict=True):
        for i in range(max(map(len, task))):
            rows.append([cell[i] if i < len(cell) else "" for cell in task])
    return rows


def _columns(table: Table1, markup: _Markup) -> list[_Column]:
    """Every column of the scores, from left to right."""
    columns = _tasks_and_metrics(table)
    if table.sizes is not None:
        totals = table.sizes.groupby("task")["examples"].sum()
        columns.append(("", "Train + val.", [[f"{totals[task]:,}"] for task in table.tasks]))

    def add(group: str, name: str, rows: pd.DataFrame, write: _Write) -> None:
        columns.append((group, name, _cells(rows, table.tasks, write, markup)))

    means = table.means.assign(
        unlearned=table.means["task"].isin(list(table.unlearned))
        & (table.means["model"] == "finetuned")
    )
    for state, name in STATES.items():
        add("ours", name, means[means["model"] == state], _score)
    if table.baselines is not None:
        for name in table.baselines["baseline"].unique():
            add("baselines", name, table.baselines[table.baselines["baseline"] == name], _plain)
    if table.paper is not None:
        for state in PAPER_STATES:
            add("paper", STATES[state], table.paper[table.paper["state"] == state], _plain)
        sizes = table.paper.drop_duplicates("task").set_index("task")["size"]
        columns.append(
            ("paper", "size", [[sizes.get(task, markup.absent)] for task in table.tasks])
        )
    return columns


def _differences(table: Table1, markup: _Markup) -> list[_Column]:
    """Every column of the differences; the last row is the mean over the tasks."""
    columns = _tasks_and_metrics(table)
    columns[0][2].append(["mean"])
    columns[1][2].append([""])
    names = {**STATES, "majority": "majority"}
    for averaged in table.averaged.to_dict("records"):
        model, reference = averaged["model"], averaged["reference"]
        of_pair = table.differences[
            (table.differences["model"] == model) & (table.differences["reference"] == reference)
        ]
        cells = _cells(of_pair, table.tasks, _difference, markup)
        cells.append([_difference(averaged, markup)])
        columns.append((f"{names[model]} −", names[reference], cells))
    return columns


def _tasks_and_metrics(table: Table1) -> list[_Column]:
    titles = [[METRICS[m].title for m in metrics] for metrics in table.tasks.values()]
    return [("", "Task", [[task] for task in table.tasks]), ("", "Metric", titles)]


_Row = Mapping[Any, Any]
_Write = Callable[[_Row, _Markup], str]


def _cells(
    rows: pd.DataFrame, tasks: Mapping[str, Sequence[str]], write: _Write, markup: _Markup
) -> list[list[str]]:
    """One column: for every task, one line per metric, or the mark for what is missing."""
    texts = {(row["task"], row["metric"]): write(row, markup) for row in rows.to_dict("records")}
    return [
        [texts.get((task, metric), markup.absent) for metric in metrics]
        for task, metrics in tasks.items()
    ]


def _plain(row: _Row, markup: _Markup) -> str:
    """A score without an interval."""
    return markup.number(row["score"], ".1f")


def _score(row: _Row, markup: _Markup) -> str:
    """A score with its interval, marked if the prediction is constant, or the task not learned."""
    text = _with_interval(_plain(row, markup), row, markup)
    text += markup.constant if row["constant"] > 0 else ""
    return text + markup.unlearned if row["unlearned"] else text


def _difference(row: _Row, markup: _Markup) -> str:
    """A difference with its interval, marked if it is significant."""
    text = _with_interval(markup.number(row["difference"], "+.1f"), row, markup)
    return f"{text}*" if row["q_value"] < LEVEL else text


def _with_interval(value: str, row: _Row, markup: _Markup) -> str:
    return markup.interval.format(value=value, reach=(row["ci_high"] - row["ci_low"]) / 2)


def _spans(groups: Iterable[str]) -> list[tuple[str, int]]:
    """Groups of columns, and the number of columns that each spans."""
    return [(group, len(list(members))) for group, members in itertools.groupby(groups)]


def _spanners(groups: Iterable[str]) -> list[str]:
    """For LaTeX: the row above the headings that names groups of columns, and the rules below."""
    cells, rules, start = [], [], 1
    for group, width in _spans(groups):
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_escape(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _notes(table: Table1) -> list[str]:
    """The notes below the scores, in sentences."""
    notes = [
        f"Scores × 100 on the validation set, {_seeds(table.scores)}.",
        "Columns: pretrained = nothing fine-tuned, the classifier freshly drawn; frozen = only the"
        " classifier trained, on the pre-trained encoder; random init. = all weights randomly"
        " initialized, then fine-tuned; finetuned = the pre-trained weights, then"
        " fine-tuned.",
        *_on_constants(table.scores),
        *_on_unlearned(table.unlearned),
    ]
    if regressions := [
        task for task, metrics in table.tasks.items() if METRICS[metrics[0]].counted is None
    ]:
        notes.append(
            f"The sign of an untrained regression's output is arbitrary: for {_listed(regressions)}"
            " (pretrained), it is the one that fits the training split better."
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
            f"Finetuned − pretrained: {mean} points (95 % interval {low} to {high}), the"
            f" {over}difference in"
            f" {_gained(metrics)}."
        )
    if table.paper is not None:
        theirs, both = gain(table.paper, table.tasks)
        which = f"{len(both)} of these tasks" if len(both) < len(table.tasks) else "the same tasks"
        notes.append(f"In the paper: {written(theirs, '.1f')} points over {which}.")
    return notes


def _on_constants(scores: pd.DataFrame) -> list[str]:
    """The note on models that predict the same for every example, with their numbers of seeds."""
    models = scores.drop_duplicates(["task", "state", "seed"])
    counts = models.groupby(["task", "state"], sort=False)["constant"].agg(["sum", "size"])
    found = [
        f"{row['task']} {STATES[row['state']]} ({row['sum']} of {row['size']} seeds)"
        for row in counts[counts["sum"] > 0].reset_index().to_dict("records")
    ]
    if not found:
        return []
    return [f"{CONSTANT} Predicts the same for every example: {', '.join(found)}."]


def _on_unlearned(found: Mapping[str, str]) -> list[str]:
    said = "; ".join(f"{task} ({scores})" for task, scores in found.items())
    why = f"{learned.WHY[0].upper()}{learned.WHY[1:]}"
    return [f"{learned.MARK} Has not learned the task: {said}. {why}."] if found else []


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


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


def _heading(name: str) -> str:
    """A heading in LaTeX, with its last word on a second line to save width."""
    first, _, last = _escape(name).rpartition(" ")
    return rf"\shortstack[r]{{{first}\\{last}}}" if first else last


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
