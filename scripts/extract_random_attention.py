"""Extract the attention maps of an encoder with random weights, to compare with (section 4)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Draw the weights, run the encoder over the sampled examples, write the store."""
    from darksecrets.attention.extraction import extract, read_sample
    from darksecrets.models.loading import Draw

    details = extract(
        job.input.model,
        read_sample(job.input.dataset, job.input.sample),
        job.output.store,
        max_length=job.params.max_length,
        batch_size=job.params.batch_size,
        draw=Draw(int(job.wildcards.seed), job.params.std),
    )
    return {"extraction": details}
