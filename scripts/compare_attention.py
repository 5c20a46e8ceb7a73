"""Compare what models attend to, example by example (sections 4.4 and 4.5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write levels, changes through fine-tuning, trends over layers and origins of stripes."""
    from darksecrets.features.comparisons import comparisons, load
    from darksecrets.features.tables import (
        ATTENTION_CHANGES,
        ATTENTION_LEVELS,
        ATTENTION_ORIGINS,
        ATTENTION_TRENDS,
    )

    params, paths = job.params, job.input.all("examples")
    models = load((*names, path) for names, path in zip(params.models, paths, strict=True))
    found = comparisons(models, params.draws, params.resamples, params.seed)
    ATTENTION_LEVELS.write(found[ATTENTION_LEVELS.name], job.output.levels)
    ATTENTION_CHANGES.write(found[ATTENTION_CHANGES.name], job.output.changes)
    ATTENTION_TRENDS.write(found[ATTENTION_TRENDS.name], job.output.trends)
    ATTENTION_ORIGINS.write(found[ATTENTION_ORIGINS.name], job.output.origins)
