"""Score the pre-trained weights with an untrained classifier, and with a trained one (Table 1)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write scores and predictions of all seeds; return which parameters were drawn and trained."""
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.run.states import FROZEN, PRETRAINED
    from darksecrets.paper.finetuning.pretrained import Settings, evaluate_pretrained

    scores, predictions = (
        {state: getattr(job.output, f"{state}_{kind}") for state in (PRETRAINED, FROZEN)}
        for kind in ("scores", "predictions")
    )
    details = evaluate_pretrained(
        job.input.model,
        job.input.dataset,
        task=Task.from_entry(job.wildcards.task, job.params.task),
        seeds=job.params.seeds,
        settings=Settings(**job.params.classifier),
        max_length=job.params.max_length,
        threads=job.threads,
        scores=scores,
        predictions=predictions,
    )
    return {"evaluation": details}
