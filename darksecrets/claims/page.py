"""The page of claims: Markdown to read, HTML for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from darksecrets.claims.answers import FINDINGS
from darksecrets.claims.registry import Paper
from darksecrets.claims.tables import HERE, NOT_COMPARABLE, VERDICTS
from darksecrets.run.numbers import written

_HEAD = ("#", "§", "claim", "paper", "this run", "holds here?", "why", "verdict")

_NOTES = (
    "**Holds here?** is about this run: *holds* or *does not hold* if the 95% interval, over "
    "examples and fine-tuning seeds, is on one side of the number claimed; else *undecided*. A "
    "statement about every task needs every interval. Where one of several would decide, intervals "
    "are corrected for their number (Bonferroni). A statement about all of a paper's tasks stays "
    "undecided if some are not in the run, unless one that is refutes it.",
    "**Verdict** is about the paper. A run with another model or other data has none: *not "
    "comparable*.",
    "**What would decide.** An undecided claim says which tasks it needs, or how many seeds or "
    "examples: so that they decide with a probability of 80%, if the true differences are those "
    "found and no fine-tuning fails. It is a plan, not evidence: a few seeds say little of their "
    "spread.",
    "**Set-up** claims are about the experiment: the configuration or shipped files decide them. "
    "Claims that name heads of the paper's encoder are *not applicable* to one of another size.",
    "Each claim is decided at the 95% level by itself: if none of {claims} claims held, up to "
    "about {false:.0f} would seem to by chance.",
)

_CSS = """
body { font: 14px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 1.5em; }
table { border-collapse: collapse; border-block: 2px solid; }
th, td { padding: .3em .7em; text-align: left; vertical-align: top; border-bottom: 1px solid #ccc; }
small { color: #555; }
"""


def markdown(papers: Sequence[Paper], claims: pd.DataFrame, label: str) -> str:
    """The page as Markdown.

    Args:
        papers: The registry.
        claims: The table `darksecrets.claims.tables.CLAIMS`.
        label: The run, its model and its data in a few words.
    """
    lines = [f"# Claims: {label}", "", *_summary(claims)]
    for paper, rows in _by_paper(papers, claims):
        lines += [f"## {paper.title}", "", f"For a verdict, a run needs {paper.needs}.", ""]
        lines += ["| " + " | ".join(_HEAD) + " |", "|" + "---|" * len(_HEAD)]
        for row in rows:
            cells = [cell.replace("|", "\\|") for cell in _cells(paper, row)]
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def html(papers: Sequence[Paper], claims: pd.DataFrame, label: str) -> str:
    """The page as HTML: Snakemake's report shows HTML, but not Markdown. See `markdown`."""
    lines = [
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Claims</title>',
        f"<style>{_CSS}</style>\n<h1>Claims: {escape(label)}</h1>",
        *(f"<p>{_marked(text)}</p>" for text in _summary(claims) if text),
    ]
    for paper, rows in _by_paper(papers, claims):
        lines.append(f"<h2>{escape(paper.title)}</h2>")
        lines.append(f"<p>For a verdict, a run needs {escape(paper.needs)}.</p>\n<table>")
        lines.append("<tr>" + "".join(f"<th>{name}</th>" for name in _HEAD) + "</tr>")
        for row in rows:
            cells = "".join(f"<td>{_marked(cell)}</td>" for cell in _cells(paper, row))
            lines.append(f"<tr>{cells}</tr>")
        lines.append("</table>")
    return "\n".join([*lines, "</html>\n"])


def _summary(claims: pd.DataFrame) -> list[str]:
    """Counts of answers and verdicts, and how to read them, as paragraphs of Markdown."""
    is_finding = claims["here"].isin(FINDINGS)
    here, others = (_counted(claims["here"][rows], HERE) for rows in (is_finding, ~is_finding))
    verdicts, findings = _counted(claims["verdict"][is_finding], VERDICTS), is_finding.sum()
    beside = f" Not findings: {others}." if others else ""
    said = f"{findings} findings. In this run: {here}. Verdicts on the papers: {verdicts}.{beside}"
    notes = [note.format(claims=findings, false=0.05 * findings) for note in _NOTES]
    return [line for text in (said, *notes) for line in (text, "")]


def _counted(values: pd.Series[Any], order: Sequence[str]) -> str:
    counts = values.value_counts()
    return ", ".join(f"{name}: {counts[name]}" for name in order if name in counts)


def _by_paper(
    papers: Sequence[Paper], claims: pd.DataFrame
) -> list[tuple[Paper, list[dict[Any, Any]]]]:
    """Each paper's claims, findings first."""
    ordered = claims.sort_values("here", key=lambda here: ~here.isin(FINDINGS), kind="stable")
    return [
        (paper, ordered[ordered["paper"] == paper.name].to_dict("records"))
        for paper in papers
        if paper.claims
    ]


def _cells(paper: Paper, row: Mapping[Any, Any]) -> list[str]:
    """A row of the page, as Markdown without line breaks."""
    (claim,) = (claim for claim in paper.claims if claim.id == row["id"])
    said = f"{row['claim']} *{claim.note}*" if claim.note else str(row["claim"])
    plain = row["verdict"] == NOT_COMPARABLE or row["here"] not in FINDINGS
    verdict = row["verdict"] if plain else f"**{row['verdict']}**"
    here = f"**{row['here']}**" if row["here"] in FINDINGS else row["here"]
    ours = number(row)
    of = f"({row['of']})" if row["of"] else ""
    about = " ".join(filter(None, (ours, row["unit"], of))) if ours else ""
    published = row["published"] or "–"
    return [
        row["id"],
        row["section"],
        said,
        published,
        about or "–",
        here,
        "; ".join(filter(None, (row["reason"], row["needs"]))),
        verdict,
    ]


def number(row: Mapping[Any, Any]) -> str:
    """Our number with its interval; empty if there is none."""
    if pd.isna(row["value"]):
        return ""
    value = written(row["value"], ".3g")
    if pd.isna(row["ci_low"]) or row["ci_low"] == row["ci_high"]:
        return value
    return f"{value} [{written(row['ci_low'], '.3g')}, {written(row['ci_high'], '.3g')}]"


def _marked(text: str) -> str:
    """Markdown's emphasis, as HTML."""
    parts = escape(text).split("**")
    strong = "".join(f"<b>{part}</b>" if i % 2 else part for i, part in enumerate(parts))
    pieces = strong.split("*")
    return "".join(f"<i>{part}</i>" if i % 2 else part for i, part in enumerate(pieces))
