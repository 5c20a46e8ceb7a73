"""Disable every head, layer and custom set on a chunk of the examples (section 4.6)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Sweep over one chunk, resuming where an interrupted job stopped; return details."""
    from darksecrets.ablation.sweep import Settings, sweep_chunk
    from darksecrets.data.tasks import Task

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    details = sweep_chunk(
        job.input.model,
        job.input.dataset,
        job.output.chunk,
        Settings(task, seed, job.params.max_length, **job.params.settings),
        threads=job.threads,
        chunk=int(job.wildcards.chunk),
        chunks=int(job.wildcards.chunks),
    )
    return {"sweep": details}
