"""Say which fine-tuned models have learned their task."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Compare the predictions of the fine-tuned models with those that ignore the sentences."""
    from darksecrets.data.tasks import Task
    from darksecrets.finetuning import tables
    from darksecrets.finetuning.comparison import Resampling, learned, read

    predictions, baselines = (job.input.all(name) for name in ("predictions", "baselines"))
    outcomes = [
        read(
            Task.from_entry(name, entry),
            [path for path in predictions if path.parents[1].name == name],
            of_task,
        )
        for (name, entry), of_task in zip(job.params.tasks.items(), baselines, strict=True)
    ]
    resampling = Resampling(job.params.resamples, job.params.seed)
    tables.LEARNED.write(learned(outcomes, resampling), job.output.table)
