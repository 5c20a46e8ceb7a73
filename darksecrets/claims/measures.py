"""Claims decided again, with the tables of another measure of attention in place of weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from darksecrets.claims import deciding
from darksecrets.claims.answers import Answer
from darksecrets.claims.registry import Paper
from darksecrets.claims.sources import Run, Tables
from darksecrets.claims.tables import CLAIMS_BY_MEASURE, CONTRADICTED, NOT_CONTRADICTED, SAME
from darksecrets.run.columns import MEASURE, WEIGHTS, of_weights

_CLAIM = ["paper", "id"]


def concerned(papers: Iterable[Paper], replaced: Iterable[str]) -> list[Paper]:
    """The papers, with the claims that other measures of attention can decide.

    Args:
        papers: The registry.
        replaced: Names of the tables of attention weights that there are by other measures, too.
    """
    names = set(replaced)
    kept = [
        replace(
            paper,
            claims=tuple(
                claim
                for claim in paper.claims
                if not claim.weights_only and names & set(claim.tables)
            ),
        )
        for paper in papers
    ]
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
        The table `claims.tables.CLAIMS_BY_MEASURE`.
    """
    parts = [
        deciding.table(papers, of_measure(tables, measure), run).assign(**{MEASURE.name: measure})
        for measure in (WEIGHTS, *measures)
    ]
    found = pd.concat(parts, ignore_index=True)
    agreements = {
        claim: agreement(map(Answer, rows["here"])) for claim, rows in found.groupby(_CLAIM)
    }
    claims = zip(*(found[name] for name in _CLAIM), strict=True)
    found["agreement"] = [agreements[claim] for claim in claims]
    order = {claim: number for number, claim in enumerate(_names(papers))}
    places = [order[claim] for claim in zip(found["paper"], found["id"], strict=True)]
    found = found.iloc[pd.Series(places).sort_values(kind="stable").index]
    return found[list(CLAIMS_BY_MEASURE.names)].reset_index(drop=True)


def of_measure(tables: Tables, measure: str) -> Tables:
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
    return of_weights(tables.declared[name]) if name in tables.declared else ""


def _names(papers: Sequence[Paper]) -> list[tuple[str, str]]:
    return [(paper.name, claim.id) for paper in papers for claim in paper.claims]
