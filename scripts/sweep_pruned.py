"""Predict with more and more heads removed (Michel et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions, resuming where an interrupted job stopped; return details."""
    from darksecrets.ablation.sweep import Settings, sweep
    from darksecrets.data.tasks import Task
    from darksecrets.importance.pruning import settings
    from darksecrets.importance.tables import PRUNING_ORDERS

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    of_task = Settings(task, seed, job.params.max_length)
    of_orders = settings(of_task, PRUNING_ORDERS.read(job.input.orders))
    inputs = job.input.model, job.input.dataset
    return {"sweep": sweep(*inputs, job.output.pruned, of_orders, threads=job.threads)}
