"""Fine-tune as for the scores, and keep the weights at some steps."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Train, resuming where an interrupted job stopped; return details of the training."""
    from darksecrets.beyond.landscape.measure.snapshots import Wanted
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.run.files import remove
    from darksecrets.paper.finetuning.training import Settings, finetune

    snapshots = job.output.snapshots
    made = snapshots.with_name(f".{snapshots.name}.training")
    details = finetune(
        job.input.model,
        job.input.dataset,
        made / "model",
        task=Task.from_entry(job.wildcards.task, job.params.task),
        state=job.wildcards.state,
        seed=int(job.wildcards.seed),
        settings=Settings(**job.params.fine_tuning),
        threads=job.threads,
        scores=made / "scores.csv",
        predictions=made / "predictions.csv",
        curve=made / "curve.csv",
        record=Wanted(snapshots, job.params.snapshots).record,
    )
    remove(made)  # the run has the same model
    return {"training": details}
