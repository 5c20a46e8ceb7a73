"""Fine-tune with one seed for the initialization and one for the data order (Dodge et al. 2020)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Train, resuming where an interrupted job stopped; return details of the training."""
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.run.states import FINETUNED
    from darksecrets.paper.finetuning.training import Settings, finetune

    init, order = int(job.wildcards.init), int(job.wildcards.order)
    details = finetune(
        job.input.model,
        job.input.dataset,
        job.output.model,
        task=Task.from_entry(job.wildcards.task, job.params.task),
        state=FINETUNED,
        seed=init,
        settings=Settings(**{**job.params.fine_tuning, "init_seed": init, "order_seed": order}),
        threads=job.threads,
        scores=job.output.scores,
        predictions=job.output.predictions,
        curve=job.output.curve,
    )
    return {"training": details}
