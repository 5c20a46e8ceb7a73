"""Shared by the scripts that write the tables of one model, or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from darksecrets.core.run.job import Job
    from darksecrets.core.run.tables import Table


def write_of_model(job: Job, tables: Mapping[Table, pd.DataFrame]) -> None:
    """Write tables of the model of a job, with the columns that identify it."""
    from darksecrets.core.run.tables import identify

    model = f"finetuned/seed-{job.wildcards.seed}"
    for declared, rows in tables.items():
        declared.write(
            identify(rows, job.wildcards.task, model), getattr(job.output, declared.name)
        )


def write_joined(
    job: Job, tables: Sequence[Table], parts: Sequence[Sequence[pd.DataFrame]]
) -> None:
    """Write tables that are made of parts: of every task or model, its rows of each table."""
    import pandas as pd

    for table, rows in zip(tables, zip(*parts, strict=True), strict=True):
        table.write(pd.concat(rows, ignore_index=True), getattr(job.output, table.name))
