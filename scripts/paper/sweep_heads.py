"""Predict with every head, layer and custom set disabled (section 4.6)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions, resuming where an interrupted job stopped; return details."""
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.interventions.sweep import Settings, sweep

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    settings = Settings(task, seed, job.params.max_length, **job.params.settings)
    inputs = job.input.model, job.input.dataset
    return {"sweep": sweep(*inputs, job.output.sweep, settings, threads=job.threads)}
