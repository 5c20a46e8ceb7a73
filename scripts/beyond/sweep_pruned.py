"""Predict with more and more heads removed (Michel et al. 2019)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions, resuming where an interrupted job stopped; return details."""
    from darksecrets.beyond.importance.declared import PRUNING_ORDERS
    from darksecrets.beyond.importance.measure.pruning import settings
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.interventions.sweep import Settings, sweep

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    sweep_settings = Settings(task, seed, job.params.max_length)
    order_settings = settings(sweep_settings, PRUNING_ORDERS.read(job.input.orders))
    inputs = job.input.model, job.input.dataset
    return {"sweep": sweep(*inputs, job.output.pruned, order_settings, threads=job.threads)}
