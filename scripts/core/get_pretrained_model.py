"""Fetch the pre-trained model without its pre-training heads (section 3)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the encoder and its tokenizer; return what they are."""
    from darksecrets.core.models.fetching import get_pretrained

    # Not a parameter: the model is checked with this length, but is the same for any other.
    max_length = job.snakemake.config["fine_tuning"]["max_length"]
    return {"model": get_pretrained(job.params.source, job.output.model, max_length=max_length)}
