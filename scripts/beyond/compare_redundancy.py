"""Compare types of heads, and distances between heads, over all models of a run (section 5)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of the analysis."""
    import pandas as pd

    from darksecrets.beyond.redundancy import head_types, summary, tables

    params, output = job.params, job.output
    tables.HEAD_DISTANCES.gather(job.input.all("head_distances"), output.head_distances)
    examples = pd.concat(map(tables.EXAMPLE_DISTANCES.read, job.input.all("example_distances")))
    distances = tables.HEAD_DISTANCES.read(output.head_distances)
    tables.REDUNDANCY.write(summary.summarize(examples, distances), output.redundancy)
    tables.REDUNDANCY_CHANGES.write(summary.changes(examples), output.redundancy_changes)

    tasks = dict.fromkeys(task for task, _ in params.models)
    folders = dict(zip(tasks, job.input.all("statistics"), strict=True))
    typed = {
        (task, model): head_types.Typed.of(
            head_types.MapStatistics.load(folders[task] / f"{model}.npz"),
            params.resamples,
            params.seed,
        )
        for task, model in params.models
    }
    agreement = head_types.agreement(typed, params.resamples, params.seed)
    tables.HEAD_TYPES.write(head_types.types(typed), output.head_types)
    tables.HEAD_TYPE_COUNTS.write(head_types.counts(typed), output.head_type_counts)
    tables.HEAD_TYPE_AGREEMENT.write(agreement, output.head_type_agreement)
