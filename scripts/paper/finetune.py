"""Fine-tune on one task, from the pre-trained weights or randomly initialized (section 3)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Train, resuming where an interrupted job stopped; return details of the training."""
    from darksecrets.core.data.tasks import Task
    from darksecrets.paper.finetuning.training import Settings, finetune

    details = finetune(
        job.input.model,
        job.input.dataset,
        job.output.model,
        task=Task.from_entry(job.wildcards.task, job.params.task),
        state=job.wildcards.state,
        seed=int(job.wildcards.seed),
        settings=Settings(**job.params.fine_tuning),
        threads=job.threads,
        scores=job.output.scores,
        predictions=job.output.predictions,
        curve=job.output.curve,
    )
    return {"training": details}
