"""Choose examples of every task for the atlas, and pack maps."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write mean maps, profiles of offsets and the maps of chosen examples, as JSON."""
    from darksecrets.core.attention.store import AttentionStore
    from darksecrets.core.interventions.results import SweepResult
    from darksecrets.core.run.files import write_text
    from darksecrets.pages.atlas import maps

    params = job.params
    sweeps = dict(zip(params.swept, job.input.all("sweeps"), strict=True))
    files = zip(
        *(job.input.all(name) for name in ("stores", "predictions")),
        job.output.all("maps"),
        strict=True,
    )
    for (task, models), (folder, predictions, output) in zip(
        params.models.items(), files, strict=True
    ):
        settings = maps.Settings(**params.settings, labels=params.labels[task])
        content = maps.content(
            {model: AttentionStore.open(folder / model) for model in models},
            maps.read_predictions(predictions, settings.labels),
            SweepResult.load(sweeps[task]) if task in sweeps else None,
            settings,
        )
        write_text(maps.as_json(content), output)
