"""Gather the chunks of the predictions with more and more heads removed (Michel et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions of every set for every example; return how they were computed."""
    from darksecrets.ablation.sweep import Settings, gather_sweep
    from darksecrets.data.tasks import Task
    from darksecrets.importance.pruning import settings
    from darksecrets.importance.tables import PRUNING_ORDERS

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    of_task = Settings(task, seed, job.params.max_length, screening=job.params.screening)
    details = gather_sweep(
        job.input.model,
        job.input.dataset,
        job.input.all("chunks"),
        job.output.pruned,
        settings(of_task, PRUNING_ORDERS.read(job.input.orders)),
        threads=job.threads,
    )
    return {"sweep": details}
