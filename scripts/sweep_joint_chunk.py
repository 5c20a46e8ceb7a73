"""Disable several heads together on a chunk of the examples (section 4.6)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Compute one chunk, resuming where an interrupted job stopped; return details."""
    from darksecrets.ablation.joint import Joint, joint_settings
    from darksecrets.ablation.sweep import Settings, sweep_chunk
    from darksecrets.data.tasks import Task

    task, seed = Task.from_entry(job.wildcards.task, job.params.task), int(job.wildcards.seed)
    settings = Settings(task, seed, job.params.max_length, **job.params.settings)
    details = sweep_chunk(
        job.input.model,
        job.input.dataset,
        job.output.chunk,
        joint_settings(settings, job.input.sweep, Joint(**job.params.joint)),
        threads=job.threads,
        chunk=int(job.wildcards.chunk),
        chunks=int(job.wildcards.chunks),
    )
    return {"sweep": details}
