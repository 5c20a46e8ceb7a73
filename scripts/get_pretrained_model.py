"""Fetch the pre-trained model without its pre-training heads (section 3)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the encoder and its tokenizer; return what they are."""
    from darksecrets.ablation.preflight import check_fetched
    from darksecrets.models.loading import get_pretrained

    details = get_pretrained(job.params.source, job.output.model, max_length=job.params.max_length)
    # Not a parameter: other heads to disable do not change the model, so need no new training.
    if job.params.source["source"] == "hub":
        check_fetched(job.snakemake.config["ablation"], job.output.model)
    return {"model": details}
