"""Save a smaller model, without the heads that the task does not need (Michel et al. 2019)."""

from typing import Any

from _job import Job, script
from _models import read_model


@script
def main(job: Job) -> dict[str, Any]:
    """Remove heads and save the model; return its size and speed beside the intact one's."""
    from darksecrets.importance.smaller import removable, save_smaller
    from darksecrets.importance.tables import PRUNING_CHOICES, PRUNING_ORDERS
    from darksecrets.models.loading import load_tokenizer

    task, model, (split,) = read_model(job, "validation")
    model.train(False)
    choices = PRUNING_CHOICES.read(job.input.choices)
    heads = removable(PRUNING_ORDERS.read(job.input.orders), choices, task.metrics[0])
    tokenizer = load_tokenizer(job.input.model)
    return {"smaller": save_smaller(model, tokenizer, split, heads, job.output.model)}
