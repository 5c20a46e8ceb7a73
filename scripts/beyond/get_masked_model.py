"""Fetch the pre-trained model with the head that predicts masked words."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the model and its tokenizer; return what they are."""
    from darksecrets.core.models.fetching import get_masked

    # Not a parameter: the model is checked with this length, but is the same for any other.
    max_length = job.snakemake.config["fine_tuning"]["max_length"]
    return {"model": get_masked(job.params.source, job.output.model, max_length=max_length)}
