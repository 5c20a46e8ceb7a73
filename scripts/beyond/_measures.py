"""Shared by the scripts that compare heads with what heads do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from darksecrets.beyond.importance.statistics import OfHeads
    from darksecrets.core.run.job import Job


def measures_of_heads(job: Job) -> OfHeads:
    """The measures of heads that the run has, its tables and metrics, and numbers of draws."""
    from darksecrets.pages.atlas.measures import WHAT_HEADS_DO
    from darksecrets.pages.contracts import TABLES

    tables = {path.stem: TABLES[path.stem].read(path) for path in job.input.all("tables")}
    shown = [each for each in WHAT_HEADS_DO if each.table.name in tables]
    draws = {"permutations": job.params.permutations, "seed": job.params.seed}
    return shown, tables, job.params.metrics, draws
