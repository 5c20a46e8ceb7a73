"""Gather the chunks of a sweep over heads and layers (section 4.6)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions of every set for every example; return how they were computed."""
    from darksecrets.ablation.sweep import Settings, gather_sweep
    from darksecrets.data.tasks import Task

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    details = gather_sweep(
        job.input.model,
        job.input.dataset,
        job.input.all("chunks"),
        job.output.sweep,
        Settings(task, seed, job.params.max_length, **job.params.settings),
        threads=job.threads,
    )
    return {"sweep": details}
