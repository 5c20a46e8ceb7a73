"""Gather the chunks of the predictions with several heads disabled together (section 4.6)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions of every set for every example; return how they were computed."""
    from darksecrets.ablation.joint import Joint, joint_settings
    from darksecrets.ablation.sweep import Settings, gather_sweep
    from darksecrets.data.tasks import Task

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    settings = Settings(task, seed, job.params.max_length, **job.params.settings)
    details = gather_sweep(
        job.input.model,
        job.input.dataset,
        job.input.all("chunks"),
        job.output.joint,
        joint_settings(settings, job.input.sweep, Joint(**job.params.joint)),
        threads=job.threads,
    )
    return {"sweep": details}
