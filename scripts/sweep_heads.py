"""Predict with every head, layer and custom set disabled (section 4.6)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions, resuming where an interrupted job stopped; return details."""
    from darksecrets.ablation.sweep import Settings, sweep
    from darksecrets.data.tasks import Task

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    settings = Settings(task, seed, job.params.max_length, **job.params.settings)
    inputs = job.input.model, job.input.dataset
    return {"sweep": sweep(*inputs, job.output.sweep, settings, threads=job.threads)}
