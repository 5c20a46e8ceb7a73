"""Shared by the scripts about one fine-tuned model: the model, and its examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.core.data.tasks import Task
    from darksecrets.core.run.job import Job


def read_model(job: Job, *splits: str) -> tuple[Task, PreTrainedModel, list[Any]]:
    """The task and the model of a job, and splits of the data as the model reads them."""
    import torch

    from darksecrets.core.data.batches import load_split
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.loading import load_classifier
    from darksecrets.core.models.tokenizing import load_tokenizer

    torch.set_num_threads(job.threads)
    task = Task.from_entry(job.wildcards.task, job.params.task)
    tokenizer = load_tokenizer(job.input.model)
    model, _ = load_classifier(job.input.model, task, int(job.wildcards.seed))
    length = job.params.max_length
    found = [load_split(job.input.dataset, name, tokenizer, task, length) for name in splits]
    return task, model, found
