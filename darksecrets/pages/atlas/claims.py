"""Claims on the page: each with its verdict, and where on the page and among figures to look."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from darksecrets.core.run.series import Series
from darksecrets.pages.claims.registry import Claim, Paper, Question

_FIGURES = 2
_SHOWN = 3
"""Most measures that a claim leads to."""


def content(
    papers: Sequence[Paper],
    claims: pd.DataFrame,
    series: Sequence[Series],
    figures: Mapping[str, Collection[str]],
    tasks: Collection[str],
) -> list[dict[str, Any]]:
    """Every claim, in the order of the registry.

    Args:
        papers: The registry.
        claims: The table `claims`.
        series: All series of the run.
        figures: Tables that each figure shows; figures are paths beside the page.
        tasks: Tasks of the run.
    """
    known = {(paper.name, claim.id): claim for paper in papers for claim in paper.claims}
    short = {paper.name: paper.short for paper in papers}
    rows = claims.astype(object).where(claims.notna(), None).to_dict("records")
    return [
        {"paper": short[row["paper"]]}
        | _claim(row, known[row["paper"], str(row["id"])], series, figures, tasks)
        for row in rows
        if (row["paper"], str(row["id"])) in known
    ]


def _claim(
    row: Mapping[Any, Any],
    claim: Claim,
    series: Sequence[Series],
    figures: Mapping[str, Collection[str]],
    tasks: Collection[str],
) -> dict[str, Any]:
    """A claim as the page shows it."""
    wanted = (
        "id",
        "section",
        "claim",
        "published",
        "value",
        "ci_low",
        "ci_high",
        "unit",
        "of",
        "verdict",
        "verdict_on_learned_tasks",
        "verdict_on_random_weights",
        "verdict_on_paper",
        "reason",
        "needs",
    )
    found = links(claim, series)
    task = next((name for name in tasks if name == str(row["of"]).split(" ")[0]), None)
    return {
        **{name: row[name] for name in wanted},
        "note": claim.note,
        "figures": _figures(claim, found, series, figures),
        "links": [link | ({"task": task} if task else {}) for link in found],
    }


def links(claim: Claim, series: Sequence[Series]) -> list[dict[str, Any]]:
    """The measures whose heads are behind a claim, with state if it names one."""
    found: list[dict[str, Any]] = []
    for question in claim.questions:
        direct = [one for one in series if _about(one, question)]
        behind = [one for one in series if {*one.shown.summaries} & {*question.sources}]
        for one in _select_kinds(direct or behind, question):
            link = {"measure": one.key, **_state(question)}
            if link not in found:
                found.append(link)
    return found[:_SHOWN]


def _about(series: Series, question: Question) -> bool:
    """Whether a question reads the rows that a series shows."""
    if series.shown.table.name not in question.sources:
        return False
    return all(_allows(question, column, value) for column, value in series.shown.fixed.items())


def _allows(question: Question, column: str, value: str | int) -> bool:
    wanted = question.where.get(column, value)
    return value in (wanted if isinstance(wanted, tuple) else (wanted,))


def _select_kinds(series: Sequence[Series], question: Question) -> list[Series]:
    """The kinds that a question is about; of a measure of which it names none, the first."""
    chosen: dict[int, list[Series]] = {}
    for one in series:
        wanted = question.where.get(one.shown.kind)
        kinds = wanted if isinstance(wanted, tuple) else (wanted,)
        if one.kind in kinds or (wanted is None and id(one.shown) not in chosen):
            chosen.setdefault(id(one.shown), []).append(one)
    return [one for group in chosen.values() for one in group]


def _state(question: Question) -> dict[str, str]:
    state = question.where.get("state")
    first = state[0] if isinstance(state, tuple) else state
    return {"state": first} if first else {}


def _figures(
    claim: Claim,
    found: Sequence[Mapping[str, Any]],
    series: Sequence[Series],
    figures: Mapping[str, Collection[str]],
) -> list[str]:
    """Figures that show the claim's tables; or else those of the heads behind it."""
    shown = {one.key: one.shown.table.name for one in series}
    behind = [shown[link["measure"]] for link in found]
    for tables in (claim.tables, behind):
        own = [name for name, read in figures.items() if {*tables} & {*read}]
        if own:
            return own[:_FIGURES]
    return []
