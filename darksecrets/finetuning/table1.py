"""Table 1: scores of the three states of the model on every task (section 4.3)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd

from darksecrets.data.metrics import METRICS
from darksecrets.finetuning.tables import BASELINES, SCORES
from darksecrets.plotting.drawing import Sources
from darksecrets.run.errors import InputError

STATES = {
    "pretrained": "pretrained",
    "finetuned-from-normal": "from normal",
    "finetuned": "finetuned",
}
"""The columns of the paper's table, in its order, with short names for the headings."""

_COLUMNS = ["task", "state", "metric", "score"]
_PUBLISHED = {"F1/Acc": ["f1", "accuracy"], "Acc": ["accuracy"]}
"""Metrics of the paper's table; for STS-B, "Acc" is Pearson's correlation."""


@dataclass(frozen=True)
class Table1:
    """Content of the table; `markdown`, `html` and `latex` write it.

    Attributes:
        scores: Columns ``task``, ``state``, ``seed``, ``metric``, ``score`` (×100).
        tasks: The tasks to show, in this order, with their metrics.
        label: The run, its model and its data in a few words.
        baselines: Columns ``task``, ``baseline``, ``metric``, ``score`` (×100), or None.
        sizes: Columns ``task``, ``split``, ``examples``, or None.
        paper: The paper's table from `read_paper`, shown beside ours. None for a run on other data
            or another model, because its numbers are for bert-base-uncased on GLUE.
    """

    scores: pd.DataFrame
    tasks: Mapping[str, Sequence[str]]
    label: str
    baselines: pd.DataFrame | None = None
    sizes: pd.DataFrame | None = None
    paper: pd.DataFrame | None = None

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

    score: str
    """Template of a score with its spread."""
    absent: str


_PLAIN = _Markup(score="{mean:.1f} ± {sd:.1f}", absent="—")
_LATEX = _Markup(score=r"${mean:.1f}_{{\pm {sd:.1f}}}$", absent="--")

_CSS = """
body { font: 14px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 1.5em; }
table { border-collapse: collapse; border-block: 2px solid; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; text-align: right; white-space: nowrap; }
th[colspan] { text-align: center; }
th:nth-child(-n+2):not([colspan]), td:nth-child(-n+2) { text-align: left; }
tbody tr:first-child td { border-top: 1px solid; }
"""

_Column = tuple[str, str, list[list[str]]]
"""Group, heading, and for every task the lines of its cell: one, or one per metric."""


def draw(sources: Sources) -> dict[str, str]:
    """Write Table 1 from a run's tables, with the paper's numbers if they are among them."""
    published = sources.paths("published")
    table = Table1(
        scores=sources.table(SCORES, "scores"),
        tasks=sources.metrics,
        label=sources.label,
        baselines=sources.table(BASELINES, "baselines"),
        sizes=read_sizes(dict(zip(sources.tasks, sources.paths("data"), strict=True))),
        paper=read_paper(published[0]) if published else None,
    )
    written = {"md": markdown(table), "html": html(table), "tex": latex(table)}
    return {f"table1.{suffix}": text for suffix, text in written.items()}


def read_paper(path: Path) -> pd.DataFrame:
    """Read the paper's Table 1 (``darksecrets/resources/paper/table1.csv``) as a tidy table.

    What the paper calls "Acc" is the Pearson correlation for STS-B.

    Returns:
        Columns ``task``, ``state``, ``metric``, ``score`` (×100) and ``size``, the data set's
        size as printed.
    """
    rows = []
    for row in pd.read_csv(path, dtype=str).to_dict("records"):
        task = "MNLI" if row["task"] == "MNLI-m" else row["task"]
        metrics = _PUBLISHED[row["metric"]] if task != "STS-B" else ["pearson"]
        for state in STATES:
            scores = map(float, row[state.replace("-", "_")].split("/"))
            for metric, score in zip(metrics, scores, strict=True):
                rows.append((task, state, metric, score, row["size"]))
    return pd.DataFrame(rows, columns=[*_COLUMNS, "size"])


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


def summarise(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean, sample standard deviation and number of seeds of every score.

    Returns:
        Columns ``task``, ``state``, ``metric``, ``mean``, ``sd`` (NaN for one seed), ``n``. If a
        score is undefined (the correlation of a constant), so is the mean.
    """
    groups = scores.groupby(["task", "state", "metric"], sort=False)["score"]
    return pd.DataFrame(
        {"mean": groups.mean(skipna=False), "sd": groups.std(ddof=1), "n": groups.size()}
    ).reset_index()


def gain_metric(metrics: Sequence[str]) -> str:
    """The metric used for the mean difference: accuracy, or the main one of a task without it.

    The paper does not name it; with accuracy, and Pearson's correlation for STS-B, its Table 1
    gives its 35.9 points (F1 for MRPC and QQP would give 48.0).
    """
    return "accuracy" if "accuracy" in metrics else metrics[0]


def gain(scores: pd.DataFrame, tasks: Mapping[str, Sequence[str]]) -> tuple[float, list[str]]:
    """Mean over tasks of `finetuned` − `pretrained`, seeds averaged first (section 4.3).

    Args:
        scores: Columns ``task``, ``state``, ``seed``, ``metric``, ``score``.
        tasks: The metrics of every task.

    Returns:
        Points, and the tasks that have both scores; NaN and an empty list if there are none.
    """
    summary = summarise(scores)
    differences = {}
    for task, metrics in tasks.items():
        rows = summary[(summary["task"] == task) & (summary["metric"] == gain_metric(metrics))]
        mean = rows.set_index("state")["mean"].dropna()
        if {"finetuned", "pretrained"} <= set(mean.index):
            differences[task] = float(mean["finetuned"] - mean["pretrained"])
    return float(pd.Series(differences, dtype=float).mean()), list(differences)


def markdown(table: Table1) -> str:
    """Write Table 1 as Markdown with notes below; two metrics of a task share a cell."""
    columns = _columns(table, _PLAIN)
    header = [f"{name} ({group})" if group == "paper" else name for group, name, _ in columns]
    rows = _joined(columns)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    aligned = ["-" * width if i < 2 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(map(str.ljust, cells, widths)) + " |"

    notes = [f"- {note}" for note in _notes(table)]
    return "\n".join([line(header), line(aligned), *map(line, rows), "", *notes, ""])


def html(table: Table1) -> str:
    """Write Table 1 as an HTML page: Snakemake's report shows HTML, but not Markdown."""
    columns = _columns(table, _PLAIN)

    def row(tag: str, cells: Iterable[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    groups = "".join(
        f'<th colspan="{width}">{group}</th>' for group, width in _spans([c[0] for c in columns])
    )
    lines = [
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Table 1</title>',
        f"<style>{_CSS}</style>",
        f"<table>\n<thead>\n<tr>{groups}</tr>",
        row("th", [name for _, name, _ in columns]),
        "</thead>\n<tbody>",
        *(row("td", cells) for cells in _joined(columns)),
        "</tbody>\n</table>\n<ul>",
        *(f"<li>{escape(note)}</li>" for note in _notes(table)),
        "</ul>\n</html>\n",
    ]
    return "\n".join(lines)


def latex(table: Table1) -> str:
    """Write Table 1 as a LaTeX float over both columns; it needs the package booktabs.

    Two metrics of a task are in two rows: side by side, with their standard deviations, they would
    be wider than the page.
    """
    columns = _columns(table, _LATEX)
    lines = [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table*}",
        r"  \centering\scriptsize",
        r"  \setlength{\tabcolsep}{3pt}",
        rf"  \begin{{tabular}}{{@{{}}ll{'r' * (len(columns) - 2)}@{{}}}}",
        r"    \toprule",
        *(f"    {text}" for text in _spanners([group for group, _, _ in columns])),
        "    " + " & ".join(_heading(name) for _, name, _ in columns) + r" \\",
        r"    \midrule",
        *(f"    {' & '.join(row)} \\\\" for row in _rows(columns)),
        r"    \bottomrule",
        r"  \end{tabular}",
        rf"  \caption{{{' '.join(_escape(note) for note in _notes(table))}}}",
        r"  \label{tab:table1}",
        r"\end{table*}",
        "",
    ]
    return "\n".join(lines)


def _joined(columns: Sequence[_Column]) -> list[list[str]]:
    """One row per task, with the lines of a cell side by side."""
    cells = [[" / ".join(lines) for lines in column] for _, _, column in columns]
    return [list(row) for row in zip(*cells, strict=True)]


def _rows(columns: Sequence[_Column]) -> list[list[str]]:
    """One row per line of a task's cells."""
    rows: list[list[str]] = []
    for task in zip(*(cells for _, _, cells in columns), strict=True):
        for i in range(max(map(len, task))):
            rows.append([cell[i] if i < len(cell) else "" for cell in task])
    return rows


def _columns(table: Table1, markup: _Markup) -> list[_Column]:
    """Every column of the table, from left to right."""
    ours = summarise(table.scores)
    columns: list[_Column] = [
        ("", "Task", [[task] for task in table.tasks]),
        ("", "Metric", [[METRICS[m].title for m in metrics] for metrics in table.tasks.values()]),
    ]
    if table.sizes is not None:
        totals = table.sizes.groupby("task")["examples"].sum()
        columns.append(("", "Train + val.", [[f"{totals[task]:,}"] for task in table.tasks]))
    for state, name in STATES.items():
        columns.append(("ours", name, _cells(ours, state, table.tasks, markup)))
    if table.baselines is not None:
        baselines = summarise(table.baselines.rename(columns={"baseline": "state"}))
        for name in baselines["state"].unique():
            cells = _cells(baselines, name, table.tasks, markup)
            columns.append(("baselines", name.replace("-", " "), cells))
    if table.paper is not None:
        paper = summarise(table.paper)
        for state, name in STATES.items():
            columns.append(("paper", name, _cells(paper, state, table.tasks, markup)))
        sizes = table.paper.drop_duplicates("task").set_index("task")["size"]
        columns.append(
            ("paper", "size", [[sizes.get(task, markup.absent)] for task in table.tasks])
        )
    return columns


def _cells(
    summary: pd.DataFrame, state: str, tasks: Mapping[str, Sequence[str]], markup: _Markup
) -> list[list[str]]:
    """One column of scores: for every task, one per metric, or the mark for missing scores."""
    rows = summary[summary["state"] == state].set_index(["task", "metric"])
    scores = {key: (row["mean"], row["sd"]) for key, row in rows.iterrows()}
    cells = []
    for task, metrics in tasks.items():
        known = [scores.get((task, metric)) for metric in metrics]
        texts = [markup.absent if score is None else _score(*score, markup) for score in known]
        cells.append(texts if any(known) else [markup.absent])
    return cells


def _score(mean: float, sd: float, markup: _Markup) -> str:
    if pd.isna(mean):
        return "n/a"
    return f"{mean:.1f}" if pd.isna(sd) else markup.score.format(mean=mean, sd=sd)


def _spans(groups: Iterable[str]) -> list[tuple[str, int]]:
    """Groups of columns, and the number of columns that each spans."""
    return [(group, len(list(members))) for group, members in itertools.groupby(groups)]


def _spanners(groups: Iterable[str]) -> list[str]:
    """For LaTeX: the row above the headings that names groups of columns, and the rules below."""
    cells, rules, start = [], [], 1
    for group, width in _spans(groups):
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{group}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _notes(table: Table1) -> list[str]:
    """The notes below the table, in sentences."""
    points, tasks = gain(table.scores, table.tasks)
    notes = [
        f"Scores × 100 on the validation set, {_seeds(table.scores)}.",
        "Columns: pretrained = nothing fine-tuned, the classifier freshly drawn; from normal ="
        " all weights drawn from a normal distribution, then fine-tuned; finetuned = the"
        " pre-trained weights, then fine-tuned.",
    ]
    if tasks:
        over = f"mean over {len(tasks)} tasks of the " if len(tasks) > 1 else ""
        notes.append(
            f"Finetuned − pretrained: {points:.1f} points, the {over}difference in"
            f" {_gained({task: gain_metric(table.tasks[task]) for task in tasks})}."
        )
    if tasks and table.paper is not None:
        theirs, both = gain(table.paper, {task: table.tasks[task] for task in tasks})
        which = "the same tasks" if both == tasks else f"the {len(both)} of these tasks that it has"
        notes.append(f"In the paper: {theirs:.1f} points over {which}.")
    return [*notes, f"{table.label[0].upper()}{table.label[1:]}."]


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
    spread = "mean ± sample standard deviation over " if counts["n"].max() > 1 else ""
    text = f"{spread}n = {usual} seed{'s' if usual > 1 else ''}"
    return text + (f" ({', '.join(others)})" if others else "")


def _heading(name: str) -> str:
    """A heading in LaTeX, with its last word on a second line to save width."""
    first, _, last = _escape(name).rpartition(" ")
    return rf"\shortstack[r]{{{first}\\{last}}}" if first else last


def _escape(text: str) -> str:
    """Escape text for LaTeX."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {letter: rf"\{letter}" for letter in "&%$#_{}"}
    special |= {"×": r"$\times$", "±": r"$\pm$", "·": r"$\cdot$", "—": "--", "−": "$-$"}
    return "".join(special.get(letter, letter) for letter in text)
