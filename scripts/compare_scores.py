"""Compare the scores of all models, with intervals and tests (Table 1)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the mean scores, their differences on every task, and those over the tasks."""
    from darksecrets.data.tasks import Task
    from darksecrets.finetuning.comparison import Resampling, compare, read
    from darksecrets.finetuning.tables import MEAN_DIFFERENCES, SCORE_DIFFERENCES, SCORE_MEANS

    predictions = job.input.all("predictions")
    outcomes = [
        read(
            Task.from_entry(name, entry),
            [path for path in predictions if path.parents[1].name == name],
            baselines,
        )
        for (name, entry), baselines in zip(
            job.params.tasks.items(), job.input.all("baselines"), strict=True
        )
    ]
    means, differences, averaged = compare(
        outcomes, Resampling(job.params.resamples, job.params.seed)
    )
    SCORE_MEANS.write(means, job.output.means)
    SCORE_DIFFERENCES.write(differences, job.output.differences)
    MEAN_DIFFERENCES.write(averaged, job.output.mean_differences)
