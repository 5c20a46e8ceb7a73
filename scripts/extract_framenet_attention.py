"""Extract the attention maps of the FrameNet sentences (section 4.2)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Run the pre-trained model over the sentences and write the store; return details."""
    from darksecrets.attention.extraction import extract
    from darksecrets.framenet.links import read_table

    sentences = [annotation.sentence for annotation in read_table(job.input.links)]
    details = extract(
        job.input.model,
        {"sentence1": sentences},
        job.output.store,
        max_length=job.params.max_length,
        batch_size=job.params.batch_size,
    )
    return {"extraction": details}
