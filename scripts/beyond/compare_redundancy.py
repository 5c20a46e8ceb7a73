"""Compare types of heads, and distances between heads, over all models of a run (section 5)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of the analysis."""
    import pandas as pd

    from darksecrets.beyond.redundancy import declared
    from darksecrets.beyond.redundancy.measure.head_types import MapStatistics, Typed, counts, types
    from darksecrets.beyond.redundancy.measure.statistics import summarize

    params, output = job.params, job.output
    examples = pd.concat(map(declared.EXAMPLE_DISTANCES.read, job.input.all("example_distances")))
    distances = pd.concat(map(declared.HEAD_DISTANCES.read, job.input.all("head_distances")))
    declared.REDUNDANCY.write(summarize(examples, distances), output.redundancy)

    tasks = dict.fromkeys(task for task, _ in params.models)
    folders = dict(zip(tasks, job.input.all("statistics"), strict=True))
    typed = {
        (task, model): Typed.of(
            MapStatistics.load(folders[task] / f"{model}.npz"),
            params.resamples,
            params.seed,
        )
        for task, model in params.models
    }
    declared.HEAD_TYPES.write(types(typed), output.head_types)
    declared.HEAD_TYPE_COUNTS.write(counts(typed), output.head_type_counts)
