"""Gather the chunks of a sweep over heads and layers (section 4.6)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the predictions of every set for every example; return how they were computed."""
    from darksecrets.ablation.sweep import Settings, sweep_heads
    from darksecrets.data.tasks import TASKS

    details = sweep_heads(
        job.input.model,
        job.input.dataset,
        job.output.sweep,
        task=TASKS[job.wildcards.task],
        seed=int(job.wildcards.seed),
        max_length=job.params.max_length,
        settings=Settings(**job.params.settings),
        threads=job.threads,
        parts=job.input.all("chunks"),
    )
    return {"sweep": details}
