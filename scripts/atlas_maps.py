"""Choose a task's examples for the atlas, and pack its maps."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write mean maps, profiles of offsets and the maps of chosen examples, as JSON."""
    from darksecrets.ablation.results import SweepResult
    from darksecrets.atlas import maps
    from darksecrets.attention.store import AttentionStore
    from darksecrets.run.files import write_text

    folders = job.input.all("stores")
    stores = {
        model: AttentionStore.open(folder)
        for model, folder in zip(job.params.models, folders, strict=True)
    }
    sweeps = [SweepResult.load(folder) for folder in job.input.all("sweep")]
    settings = maps.Settings(**job.params.settings)
    predictions = maps.read_predictions(job.input.predictions, settings.labels)
    content = maps.content(stores, predictions, sweeps[0] if sweeps else None, settings)
    write_text(maps.as_json(content), job.output.maps)
