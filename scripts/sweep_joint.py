"""Predict with several heads disabled together (section 4.6)."""

from typing import Any

from _job import Job, script
from _sweep import run_sweep


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions, resuming where an interrupted job stopped; return details."""
    from darksecrets.ablation.joint import Joint, joint_settings
    from darksecrets.ablation.sweep import Settings
    from darksecrets.data.tasks import Task

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    settings = Settings(task, seed, job.params.max_length, **job.params.settings)
    together = joint_settings(settings, job.input.sweep, Joint(**job.params.joint))
    return {"sweep": run_sweep(job, job.output.joint, together)}
