"""Claims decided again, with the tables of another measure of attention in place of weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from darksecrets.core.run.columns import MEASURE, WEIGHTS, table_of_weights
from darksecrets.pages.claims import deciding
from darksecrets.pages.claims.answers import Answer
from darksecrets.pages.claims.registry import Claim, Paper
from darksecrets.pages.claims.sources import Run, Tables
from darksecrets.pages.claims.tables import CLAIMS_BY_MEASURE, CONTRADICTED, NOT_CONTRADICTED, SAME


def concerned(papers: Iterable[Paper], replaced: Iterable[str]) -> list[Paper]:
    """The papers, with the claims that other measures of attention can decide.

    Args:
        papers: The registry.
        replaced: Names of the tables of attention weights that there are by other measures, too.
    """
    names = set(replaced)

    def is_concerned(claim: Claim) -> bool:
        return not claim.weights_only and bool(names & set(claim.tables))

    kept = [replace(paper, claims=tuple(filter(is_concerned, paper.claims))) for paper in papers]
    return [paper for paper in kept if paper.claims]


def table(
    papers: Sequence[Paper], tables: Tables, run: Run, measures: Sequence[str]
) -> pd.DataFrame:
    """Decide every claim by attention weights, and by other measures.

    Args:
        papers: From `concerned`.
        tables: The run's tables, also those by measure.
        run: The run.
        measures: The other measures.

    Returns:
        The table `pages.claims.tables.CLAIMS_BY_MEASURE`.
    """
    parts = [
        deciding.table(papers, tables_of_measure(tables, measure), run).assign(
            **{MEASURE.name: measure}
        )
        for measure in (WEIGHTS, *measures)
    ]
    found = pd.concat(parts).sort_index(kind="stable")  # all measures of a claim together
    answers = found.groupby(["paper", "id"])["verdict"]
    found["agreement"] = answers.transform(lambda verdicts: agreement(map(Answer, verdicts)))
    return found[list(CLAIMS_BY_MEASURE.names)].reset_index(drop=True)


def tables_of_measure(tables: Tables, measure: str) -> Tables:
    """Tables in which those of a measure take the place of those of attention weights."""
    frames = dict(tables.frames)
    for name, frame in tables.frames.items():
        if replaced := _replaced(tables, name):
            rows = frame[frame[MEASURE.name] == measure].drop(columns=MEASURE.name)
            frames[replaced] = rows.reset_index(drop=True)
    lost = {
        replaced: f"by {measure} {why}"
        for name, why in tables.missing.items()
        if (replaced := _replaced(tables, name)) and measure != WEIGHTS
    }
    kept = {name: frame for name, frame in frames.items() if name not in lost}
    return Tables(kept, tables.declared, {**tables.missing, **lost})


def agreement(answers: Iterable[Answer]) -> str:
    """Whether several answers agree."""
    found = set(answers)
    if len(found) == 1:
        return SAME
    return CONTRADICTED if {Answer.YES, Answer.NO} <= found else NOT_CONTRADICTED


def _replaced(tables: Tables, name: str) -> str:
    """Name of the table of attention weights that a table by measure stands for; else empty."""
    return table_of_weights(tables.declared[name]) if name in tables.declared else ""
