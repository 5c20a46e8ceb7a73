"""Gather the scores of all models, and compare them, with intervals and tests (Table 1)."""

from pathlib import Path

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write all scores, their means, their differences on every task, and those over the tasks."""
    from darksecrets.core.data.tasks import Task
    from darksecrets.paper.finetuning import tables
    from darksecrets.paper.finetuning.comparison import Resampling, compare, read

    entries, seeds = job.params.tasks, job.params.seeds

    def files(kind: str) -> list[Path]:
        """A file for every state, task and seed."""
        paths = job.input.all(kind)
        names = [
            [f"seed-{seed}.csv" for seed in seeds[path.parent.name]] if path.is_dir() else [""]
            for path in paths
        ]
        return [path / name for path, own in zip(paths, names, strict=True) for name in own]

    # Jobs score every metric that fits a task, so that choosing others reruns no training.
    keep = tables.scored_by({name: entry["metrics"] for name, entry in entries.items()})
    tables.SCORES.gather(files("scores"), job.output.table1, keep)
    curves = job.input.all("curves")
    tables.LEARNING_CURVES.gather(curves, job.output.learning_curves, keep)
    predictions = files("predictions")
    outcomes = [
        read(
            Task.from_entry(name, entry),
            [path for path in predictions if path.parents[1].name == name],
            baselines,
        )
        for (name, entry), baselines in zip(
            entries.items(), job.input.all("baselines"), strict=True
        )
    ]
    resampling = Resampling(job.params.resamples, job.params.seed)
    means, differences, averaged = compare(outcomes, resampling)
    tables.SCORE_MEANS.write(means, job.output.means)
    tables.SCORE_DIFFERENCES.write(differences, job.output.differences)
    tables.MEAN_DIFFERENCES.write(averaged, job.output.mean_differences)
