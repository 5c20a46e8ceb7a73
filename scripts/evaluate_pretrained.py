"""Score the pre-trained weights with an untrained classifier (Table 1)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write scores and predictions; return which parameters were randomly initialised."""
    from darksecrets.data.tasks import Task
    from darksecrets.finetuning.evaluation import evaluate_pretrained

    details = evaluate_pretrained(
        job.input.model,
        job.input.dataset,
        task=Task.from_entry(job.wildcards.task, job.params.task),
        seed=int(job.wildcards.seed),
        max_length=job.params.max_length,
        threads=job.threads,
        scores=job.output.scores,
        predictions=job.output.predictions,
    )
    return {"evaluation": details}
