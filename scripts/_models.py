"""Shared by the scripts about one fine-tuned model: the model, its examples, and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from _job import Job
    from transformers import PreTrainedModel

    from darksecrets.data.tasks import Task
    from darksecrets.run.tables import Table


def read_model(job: Job, *splits: str) -> tuple[Task, PreTrainedModel, list[Any]]:
    """The task and the model of a job, and splits of the data as the model reads them."""
    import torch

    from darksecrets.data.batches import load_split
    from darksecrets.data.tasks import Task
    from darksecrets.models.loading import load_classifier, load_tokenizer

    torch.set_num_threads(job.threads)
    task = Task.from_entry(job.wildcards.task, job.params.task)
    tokenizer = load_tokenizer(job.input.model)
    model, _ = load_classifier(job.input.model, task, int(job.wildcards.seed))
    length = job.params.max_length
    found = [load_split(job.input.dataset, name, tokenizer, task, length) for name in splits]
    return task, model, found


def write_of_model(job: Job, tables: Mapping[Table, pd.DataFrame]) -> None:
    """Write tables of the model of a job, with the columns that identify it."""
    from darksecrets.run.tables import identify

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
