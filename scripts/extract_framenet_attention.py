"""Extract the attention maps of the FrameNet sentences (section 4.2)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Run the pre-trained model, then one with random weights, and write both stores."""
    from darksecrets.attention.extraction import extract
    from darksecrets.framenet.links import read_table
    from darksecrets.models.loading import Draw

    sentences = [annotation.sentence for annotation in read_table(job.input.links)]
    stores = {job.output.store: None, job.output.random: Draw(job.params.seed, job.params.std)}
    details = [
        extract(
            job.input.model,
            {"sentence1": sentences},
            store,
            max_length=job.params.max_length,
            batch_size=job.params.batch_size,
            draw=draw,
        )
        for store, draw in stores.items()
    ]
    return {"extraction": details}
