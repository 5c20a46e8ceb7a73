"""Run a model over a chunk of the sampled examples and store its attention maps (section 3)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the store of the chunk; return how it was computed."""
    from darksecrets.attention.extraction import extract, read_sample

    details = extract(
        job.input.model,
        read_sample(job.input.dataset, job.input.sample),
        job.output.store,
        max_length=job.params.max_length,
        batch_size=job.params.batch_size,
        chunk=int(job.wildcards.chunk),
        chunks=int(job.wildcards.chunks),
    )
    return {"extraction": details}
