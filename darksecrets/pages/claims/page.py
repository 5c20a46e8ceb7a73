"""The page of claims, as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from darksecrets.core.run.numbers import written
from darksecrets.pages.claims.answers import Answer
from darksecrets.pages.claims.registry import Paper
from darksecrets.pages.claims.tables import ANSWERS, NOT_COMPARABLE, VERDICTS

_HEAD = (
    "#",
    "§",
    "claim",
    "paper",
    "this run",
    "holds here?",
    "on learned tasks",
    "random weights",
    "why",
    "verdict",
)

_NOTES = (
    "<b>Holds here?</b> is about this run: <i>holds</i> or <i>does not hold</i> if the 95% "
    "interval, over examples and fine-tuning seeds, is on one side of the number claimed; else "
    "<i>undecided</i>. A statement about every task needs every interval. Where one of several "
    "would decide, intervals are corrected for their number (Bonferroni). A statement about all of "
    "a paper's tasks stays undecided if some are not in the run, unless one that is refutes it.",
    "<b>On learned tasks.</b> The same, only about the paper's tasks that the run's "
    "fine-tuned models have learned.",
    "<b>Random weights.</b> The same of an encoder that was never trained, where its attention was "
    "measured. A claim that holds there, too, is not about what training does.",
    "<b>Verdict</b> is about the paper. A run with another model or other data has none: "
    "<i>not comparable</i>.",
    "<b>What would decide.</b> An undecided claim says what the run lacks, or whether more seeds "
    "or more examples would shrink the interval that is too wide.",
    "Each claim is decided at the 95% level by itself: if none of {claims} claims held, up to "
    "about {false:.0f} would seem to by chance.",
)

_CSS = """
body { font: 14px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 1.5em; }
table { border-collapse: collapse; border-block: 2px solid; }
th, td { padding: .3em .7em; text-align: left; vertical-align: top; border-bottom: 1px solid #ccc; }
"""


def html(papers: Sequence[Paper], claims: pd.DataFrame, label: str) -> str:
    """The page.

    Args:
        papers: The registry.
        claims: The table `darksecrets.pages.claims.tables.CLAIMS`.
        label: The run, its model and its data in a few words.
    """
    lines = [
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Claims</title>',
        f"<style>{_CSS}</style>\n<h1>Claims: {escape(label)}</h1>",
        *(f"<p>{text}</p>" for text in _summary(claims)),
    ]
    for paper in papers:
        rows = claims[claims["paper"] == paper.name].to_dict("records")
        if not rows:
            continue
        lines.append(f"<h2>{escape(paper.title)}</h2>")
        lines.append(f"<p>For a verdict, a run needs {escape(paper.needs)}.</p>\n<table>")
        lines.append("<tr>" + "".join(f"<th>{name}</th>" for name in _HEAD) + "</tr>")
        for row in rows:
            cells = "".join(f"<td>{cell}</td>" for cell in _cells(paper, row))
            lines.append(f"<tr>{cells}</tr>")
        lines.append("</table>")
    return "\n".join([*lines, "</html>\n"])


def _summary(claims: pd.DataFrame) -> list[str]:
    """Counts of answers and verdicts, and how to read them, as paragraphs of HTML."""
    answers = _counted(claims["verdict"], ANSWERS)
    verdicts = _counted(claims["verdict_on_paper"], VERDICTS)
    said = f"{len(claims)} claims. In this run: {answers}. Verdicts on the papers: {verdicts}."
    notes = [note.format(claims=len(claims), false=0.05 * len(claims)) for note in _NOTES]
    return [said, *notes]


def _counted(values: pd.Series[Any], order: Sequence[str]) -> str:
    counts = values.value_counts()
    return ", ".join(f"{name}: {counts[name]}" for name in order if name in counts)


def _cells(paper: Paper, row: Mapping[Any, Any]) -> list[str]:
    """A row of the page, as HTML."""
    claim = next(claim for claim in paper.claims if claim.id == row["id"])
    said = escape(row["claim"])
    if claim.note:
        said += f" <i>{escape(claim.note)}</i>"
    verdict = escape(row["verdict_on_paper"])
    if row["verdict_on_paper"] != NOT_COMPARABLE:
        verdict = f"<b>{verdict}</b>"
    about = describe_number(row) or "–"
    return [
        escape(row["id"]),
        escape(row["section"]),
        said,
        escape(row["published"] or "–"),
        escape(about),
        f"<b>{row['verdict']}</b>",
        escape(row["verdict_on_learned_tasks"]),
        escape(describe_random_weights(row)),
        escape("; ".join(filter(None, (row["reason"], row["needs"])))),
        verdict,
    ]


def describe_random_weights(row: Mapping[Any, Any]) -> str:
    """What is found of an encoder that was never trained."""
    found = row["verdict_on_random_weights"]
    if pd.isna(found) or not found:
        return "–"
    if found == row["verdict"] == Answer.YES:
        return f"{found}: not about training"
    return str(found)


def describe_number(row: Mapping[Any, Any]) -> str:
    """Our number with its interval, its unit, and what it is of; empty if there is none."""
    ours = number(row)
    if not ours:
        return ""
    of = f"({row['of']})" if row["of"] else ""
    return " ".join(filter(None, (ours, row["unit"], of)))


def number(row: Mapping[Any, Any]) -> str:
    """Our number with its interval; empty if there is none."""
    if pd.isna(row["value"]):
        return ""
    value = written(row["value"], ".3g")
    if pd.isna(row["ci_low"]) or row["ci_low"] == row["ci_high"]:
        return value
    return f"{value} [{written(row['ci_low'], '.3g')}, {written(row['ci_high'], '.3g')}]"
