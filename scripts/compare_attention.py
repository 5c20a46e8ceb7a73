"""Compare what models attend to, example by example (sections 4.4 and 4.5)."""

from collections import defaultdict

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write levels, changes through fine-tuning, trends over layers and origins of stripes."""
    from darksecrets.features.changes import changes
    from darksecrets.features.levels import levels
    from darksecrets.features.profiles import Profiles
    from darksecrets.features.tables import (
        ATTENTION_CHANGES,
        ATTENTION_LEVELS,
        ATTENTION_ORIGINS,
        ATTENTION_TRENDS,
    )
    from darksecrets.features.trends import origins, trends

    models: dict[str, dict[str, list[Profiles]]] = {}
    for (task, model), path in zip(job.params.models, job.input.all("examples"), strict=True):
        states = models.setdefault(task, defaultdict(list))
        states[model.partition("/")[0]].append(Profiles.load(path))
    draws, resamples, seed = job.params.draws, job.params.resamples, job.params.seed
    ATTENTION_LEVELS.write(levels(models, resamples, seed), job.output.levels)
    ATTENTION_CHANGES.write(changes(models, draws, resamples, seed), job.output.changes)
    ATTENTION_TRENDS.write(trends(models, draws, resamples, seed), job.output.trends)
    ATTENTION_ORIGINS.write(origins(models, resamples, seed), job.output.origins)
