"""Classify heads by what gets most of their attention (section 4.4, after Clark et al. 2019)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the types of all heads, their numbers in every layer, and how models agree on them."""
    from darksecrets.features.head_types import MapStatistics, Typed, agreement, counts, types
    from darksecrets.features.tables import HEAD_TYPE_AGREEMENT, HEAD_TYPE_COUNTS, HEAD_TYPES

    resamples, seed = job.params.resamples, job.params.seed
    models = {
        (task, model): Typed.of(MapStatistics.load(path), resamples, seed)
        for (task, model), path in zip(job.params.models, job.input.all("statistics"), strict=True)
    }
    HEAD_TYPES.write(types(models), job.output.types)
    HEAD_TYPE_COUNTS.write(counts(models), job.output.counts)
    HEAD_TYPE_AGREEMENT.write(agreement(models, resamples, seed), job.output.agreement)
