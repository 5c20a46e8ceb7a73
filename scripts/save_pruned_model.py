"""Save a smaller model, without the heads that the task does not need (Michel et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Remove heads and save the model; return its size and speed beside the intact one's."""
    import torch

    from darksecrets.data.batches import load_split
    from darksecrets.data.tasks import Task
    from darksecrets.importance.smaller import removable, save_smaller
    from darksecrets.importance.tables import PRUNING_CHOICES, PRUNING_ORDERS
    from darksecrets.models.loading import load_classifier, load_tokenizer

    torch.set_num_threads(job.threads)
    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    tokenizer = load_tokenizer(job.input.model)
    split = load_split(job.input.dataset, "validation", tokenizer, task, params.max_length)
    model, _ = load_classifier(job.input.model, task, int(job.wildcards.seed))
    model.train(False)
    choices = PRUNING_CHOICES.read(job.input.choices)
    heads = removable(PRUNING_ORDERS.read(job.input.orders), choices, task.metrics[0])
    return {"smaller": save_smaller(model, tokenizer, split, heads, job.output.model)}
