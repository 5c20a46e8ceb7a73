"""Predict with several heads disabled together (section 4.6)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions, resuming where an interrupted job stopped; return details."""
    from darksecrets.ablation.joint import Joint, joint_settings
    from darksecrets.ablation.sweep import Settings, sweep
    from darksecrets.data.tasks import Task

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    settings = Settings(task, seed, job.params.max_length, **job.params.settings)
    together = joint_settings(settings, job.input.sweep, Joint(**job.params.joint))
    inputs = job.input.model, job.input.dataset
    return {"sweep": sweep(*inputs, job.output.joint, together, threads=job.threads)}
