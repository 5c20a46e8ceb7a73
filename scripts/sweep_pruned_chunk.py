"""Predict a chunk of the examples with more and more heads removed (Michel et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Compute one chunk, resuming where an interrupted job stopped; return details."""
    from darksecrets.ablation.sweep import Settings, sweep_chunk
    from darksecrets.data.tasks import Task
    from darksecrets.importance.pruning import settings
    from darksecrets.importance.tables import PRUNING_ORDERS

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    of_task = Settings(task, seed, job.params.max_length, screening=job.params.screening)
    details = sweep_chunk(
        job.input.model,
        job.input.dataset,
        job.output.chunk,
        settings(of_task, PRUNING_ORDERS.read(job.input.orders)),
        threads=job.threads,
        chunk=int(job.wildcards.chunk),
        chunks=int(job.wildcards.chunks),
    )
    return {"sweep": details}
