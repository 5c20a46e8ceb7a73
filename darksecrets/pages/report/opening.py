"""The first page of Snakemake's report: what was found, scores, and what made the run, as HTML."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from darksecrets.core.run.learned import ADVICE, CONSTANT, MARK, WHY, marks
from darksecrets.core.run.numbers import written, written_plus_minus
from darksecrets.core.run.states import FINETUNED, FROM_NORMAL, FROZEN, PRETRAINED, STATE_NAMES

if TYPE_CHECKING:
    import pandas as pd

_ANSWERS = {"holds": "claims that hold", "does not hold": "do not hold", "undecided": "undecided"}
_MAJORITY = "majority"
_MODELS = (PRETRAINED, FROZEN, FROM_NORMAL, FINETUNED, _MAJORITY)
"""States and baselines whose scores are shown, in the order of Table 1."""
_COSTS = ("step", "jobs", "time", "longest", "memory")
_SIDES = 2
"""Tables side by side that the steps are spread over."""
_LONGEST = 22
"""Steps that are listed at once, so that the page fits a window; the others are folded."""

_META = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark">'
)
_NEXT = (
    "<p>Go on with the atlas of heads (<code>atlas.html</code>), the figures and the tables beside "
    "this file; <code>snakemake figure7</code> makes one figure alone.</p>"
)
_ABOUT_SCORES = (
    f"<p>± reaches to the ends of a 95% interval. {CONSTANT} predicts the same for every example. "
    f"{MARK} has not learned the task. {_MAJORITY}: one answer for all examples. Its correlations "
    "are 0, and so is its F1 if the answer is the negative class.</p>"
)
_ADVICE = re.sub("`(.*?)`", r"<code>\1</code>", escape(ADVICE))
_STYLE = """
.made { font: 12px/1.35 system-ui, sans-serif; max-width: 880px; }
.made table { border-collapse: collapse; margin: 0; width: auto; table-layout: auto; }
.made table { font-size: inherit; line-height: inherit; }
.made th, .made td { padding: 1px 10px 1px 0; text-align: left; vertical-align: top; }
.made th { font-weight: 600; white-space: nowrap; }
.made .costs { display: flex; flex-wrap: wrap; gap: 0 28px; margin-top: 8px; }
.made .costs td + td, .made .costs th + th { text-align: right; white-space: nowrap; }
.made .costs td { border-top: 1px solid #8884; font-variant-numeric: tabular-nums; }
.made summary { margin-top: 6px; cursor: pointer; }
.made .findings { font-size: 14px; padding-left: 18px; margin: 0 0 10px; max-width: 80ch; }
.made .scores { overflow-x: auto; margin-bottom: 10px; }
.made .scores th { white-space: normal; max-width: 110px; }
.made .scores td { white-space: nowrap; font-variant-numeric: tabular-nums; }
.made p.unlearned { color: #b45309; margin: 0 0 8px; }
.made p { margin: 6px 0 0; opacity: .8; }
"""


def answers(claims: Path) -> dict[str, int]:
    """How many claims hold in the run, in the words of the page: Snakemake shows such numbers.

    Args:
        claims: The table of claims, ``claims.csv``.
    """
    with claims.open(encoding="utf-8", newline="") as table:
        counts = Counter(row["verdict"] for row in csv.DictReader(table))
    return {words: counts[answer] for answer, words in _ANSWERS.items()}


def html(
    lines: Mapping[str, str],
    costs: pd.DataFrame,
    unlearned: Mapping[str, str] | None = None,
    findings: Sequence[str] = (),
    scores: str = "",
) -> str:
    """The fragment; opened by itself, it is a page.

    Args:
        lines: What made the run, see `darksecrets.pages.report.history.facts`.
        costs: See `darksecrets.pages.report.history.costs`.
        unlearned: Tasks that fine-tuned models have not learned, with their scores in words.
        findings: What the run found, in sentences.
        scores: Table 1, as HTML.
    """
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in lines.items()
    )
    return (
        f'{_META}<style>{_STYLE}</style>\n<div class="made">\n'
        f"{_found(findings)}\n"
        f"{_learning_warning(unlearned or {})}{scores}\n"
        f"<table>{rows}</table>\n{_NEXT}\n"
        f"{_costs(costs)}</div>\n"
    )


def scores(means: Path, titles: Mapping[str, str], unlearned: Collection[str] = ()) -> str:
    """The score of every state on each task's metrics with half its interval, as an HTML table.

    Args:
        means: The table of mean scores, ``score_means.csv``.
        titles: What people call a metric, by its name in tables.
        unlearned: Tasks that fine-tuned models have not learned, which are marked.
    """
    with means.open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["model"] in _MODELS]
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        cells.setdefault((row["task"], row["metric"]), {})[row["model"]] = _score(row, unlearned)
    names = [STATE_NAMES.get(model, model) for model in _MODELS]
    head = "".join(f"<th>{escape(name)}</th>" for name in ("Task", "Metric", *names))
    body = "".join(
        f"<tr><td>{escape(task)}</td><td>{escape(titles[metric])}</td>"
        + "".join(f"<td>{found.get(model, '')}</td>" for model in _MODELS)
        + "</tr>"
        for (task, metric), found in cells.items()
    )
    return f'<div class="scores"><table><tr>{head}</tr>{body}</table>{_ABOUT_SCORES}</div>'


def _score(row: Mapping[str, str], unlearned: Collection[str]) -> str:
    """A score; that of a model has half its interval, and marks."""
    score, low, high = (float(row[name]) for name in ("score", "ci_low", "ci_high"))
    if row["model"] == _MAJORITY:
        return written(score, ".1f")
    is_unlearned = row["model"] == FINETUNED and row["task"] in unlearned
    return written_plus_minus(score, low, high) + marks(
        constant=float(row["constant"]), unlearned=is_unlearned
    )


def _found(findings: Sequence[str]) -> str:
    """What the run found, as a list; nothing without a sentence."""
    items = "".join(f"<li>{escape(sentence)}.</li>" for sentence in findings)
    return f'<ul class="findings">{items}</ul>' if items else ""


def _learning_warning(unlearned: Mapping[str, str]) -> str:
    """A warning above everything else, if there is anything to warn of."""
    said = "; ".join(f"<b>{escape(task)}</b> ({scores})" for task, scores in unlearned.items())
    text = f"{MARK} Not learned by the fine-tuned models: {said}, {WHY}. {_ADVICE}"
    return f'<p class="unlearned">{text}</p>\n' if unlearned else ""


def _costs(costs: pd.DataFrame) -> str:
    """Time and memory of every step, in tables side by side."""
    if costs.empty:
        return "<p>Time and memory of steps are not recorded here.</p>\n"
    rows = [
        f"<tr><td>{escape(row['rule'])}</td><td>{row['jobs']}</td><td>{_duration(row['wall'])}</td>"
        f"<td>{_duration(row['longest'])}</td><td>{row['memory']:.0f} MiB</td></tr>"
        for row in costs.to_dict("records")
    ]
    others = rows[_LONGEST:]
    return (
        f"{_side_by_side(rows[:_LONGEST])}\n"
        f"<p>Measured steps: {costs['jobs'].sum()} jobs took {_duration(costs['wall'].sum())}, "
        "some at the same time; "
        f"memory is that of the largest job, at most {costs['memory'].max():.0f} MiB.</p>\n"
        f"{_folded_rows(others) if others else ''}"
    )


def _folded_rows(rows: Sequence[str]) -> str:
    """Rows of further steps, folded."""
    summary = f"<summary>{len(rows)} shorter steps</summary>"
    return f"<details>{summary}{_side_by_side(rows)}</details>\n"


def _side_by_side(rows: Sequence[str]) -> str:
    """Rows of steps, spread over tables of equal length."""
    head = "<tr>" + "".join(f"<th>{name}</th>" for name in _COSTS) + "</tr>"
    side = -(-len(rows) // _SIDES)
    tables = "".join(
        f"<table>{head}{''.join(rows[start : start + side])}</table>"
        for start in range(0, len(rows), side)
    )
    return f'<div class="costs">{tables}</div>'


def _duration(seconds: float) -> str:
    """A time in the largest unit that says enough."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
