"""Run a model over a chunk of the sampled examples and keep its attention maps (section 3)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the store of the chunk; return how it was computed."""
    from darksecrets.attention.extraction import extract
    from darksecrets.data.tasks import TASKS

    details = extract(
        job.input.model,
        job.input.dataset,
        job.input.sample,
        job.output.store,
        task=TASKS[job.wildcards.task],
        max_length=job.params.max_length,
        batch_size=job.params.batch_size,
        shard=int(job.wildcards.chunk),
        shards=int(job.wildcards.chunks),
    )
    return {"extraction": details}
