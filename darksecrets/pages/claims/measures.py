"""Claims decided again, with the tables of another measure of attention in place of weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from darksecrets.core.run.columns import MEASURE, WEIGHTS
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
    papers: Sequence[Paper],
    tables: Tables,
    run: Run,
    others: Mapping[str, Mapping[str, pd.DataFrame]],
    replaced: Collection[str],
) -> pd.DataFrame:
    """Decide every claim by attention weights, and by other measures.

    Args:
        papers: From `concerned`.
        tables: The run's tables.
        run: The run.
        others: By other measure, the tables that take the place of those of attention weights.
        replaced: Names of all tables of attention weights that never count for other measures.

    Returns:
        The table `pages.claims.tables.CLAIMS_BY_MEASURE`.
    """
    by_measure = {WEIGHTS: tables}
    for measure, frames in others.items():
        by_measure[measure] = replace_tables(tables, measure, frames, replaced)
    parts = []
    for measure, own in by_measure.items():
        decided = deciding.table(papers, own, run)
        parts.append(decided.assign(**{MEASURE.name: measure}))
    found = pd.concat(parts).sort_index(kind="stable")  # all measures of a claim together
    answers = found.groupby(["paper", "id"])["verdict"]
    found["agreement"] = answers.transform(lambda verdicts: agreement(map(Answer, verdicts)))
    return found[list(CLAIMS_BY_MEASURE.names)].reset_index(drop=True)


def replace_tables(
    tables: Tables, measure: str, frames: Mapping[str, pd.DataFrame], replaced: Collection[str]
) -> Tables:
    """Tables with those of a measure in place of those of attention weights; see `table`."""
    lost = dict.fromkeys({*replaced} - set(frames), f"by {measure} is missing")
    kept = {name: frame for name, frame in tables.frames.items() if name not in lost}
    return Tables({**kept, **frames}, tables.declared, {**tables.missing, **lost})


def agreement(answers: Iterable[Answer]) -> str:
    """Whether several answers agree."""
    found = set(answers)
    if len(found) == 1:
        return SAME
    return CONTRADICTED if {Answer.YES, Answer.NO} <= found else NOT_CONTRADICTED
