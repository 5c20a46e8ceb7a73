"""Fetch the pre-trained model without its pre-training heads (section 3)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the encoder and its tokenizer; return what they are."""
    from darksecrets.ablation.preflight import check_model
    from darksecrets.models.loading import get_pretrained

    details = get_pretrained(job.params.source, job.output.model)
    # Not a parameter: other heads to disable do not change the model, so need no new training.
    check_model(job.snakemake.config["ablation"], job.output.model)
    return {"model": details}
