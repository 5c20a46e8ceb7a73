"""Disable every head, layer and set of one's own on a chunk of the examples (section 4.6)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Sweep over one chunk, going on where a killed job stopped; return how."""
    from darksecrets.ablation.sweep import Settings, sweep_heads_part
    from darksecrets.data.tasks import TASKS

    details = sweep_heads_part(
        job.input.model,
        job.input.dataset,
        job.output.chunk,
        task=TASKS[job.wildcards.task],
        seed=int(job.wildcards.seed),
        max_length=job.params.max_length,
        settings=Settings(**job.params.settings),
        threads=job.threads,
        part=int(job.wildcards.chunk),
        parts=int(job.wildcards.chunks),
    )
    return {"sweep": details}
