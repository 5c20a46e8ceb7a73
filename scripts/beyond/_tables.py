"""Shared by the scripts that write the tables of one model, or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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


def write_of_models(
    job: Job,
    tables: Sequence[Table],
    task: str,
    found: Iterable[tuple[str, Mapping[Table, pd.DataFrame]]],
) -> None:
    """Write tables of several models, from the rows that each has of some of them.

    Args:
        job: The job.
        tables: The tables to write.
        task: The task of the models; empty for none.
        found: Name of a model, and its rows of tables without the columns that identify it.
    """
    import pandas as pd

    from darksecrets.core.run.tables import identify

    parts: dict[Table, list[pd.DataFrame]] = {table: [] for table in tables}
    for model, rows_by_table in found:
        for table, rows in rows_by_table.items():
            if len(rows):
                parts[table].append(identify(rows, task, model))
    for table, some in parts.items():
        joined = pd.concat(some, ignore_index=True) if some else pd.DataFrame()
        rows = joined.reindex(columns=list(table.names))
        table.write(rows, getattr(job.output, table.name))
