"""Measure losses on a plane and a line through a fine-tuned model's weights (Hao et al. 2019)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the losses, as arrays and as tables.

    Returns:
        The precision, its error, and how far models are from their stored outputs.
    """
    from darksecrets.beyond.landscape.declared import CORNERS, SURFACE_TABLES, Surface
    from darksecrets.beyond.landscape.measure import surface
    from darksecrets.beyond.landscape.measure.finetuned import Finetuned
    from darksecrets.beyond.landscape.measure.surfaces import Model, measure
    from darksecrets.core.data.tasks import Task

    params, seed = job.params, int(job.wildcards.seed)
    task = Task.from_entry(job.wildcards.task, params.task)
    folders = dict(zip(CORNERS, job.input.all("models"), strict=True))
    pretrained, *finetuned = job.input.all("predictions")
    seed_predictions = [pretrained / f"seed-{seed}.csv", *finetuned]
    predictions = dict(zip(CORNERS, seed_predictions, strict=True))
    found, details = measure(
        {name: Model(folders[name], predictions[name]) for name in CORNERS},
        job.input.dataset,
        Finetuned(task, "finetuned", seed, params.seed, params.max_length),
        Surface.of(params.settings),
        job.output.surface,
        snapshots=next(iter(job.input.all("snapshots")), None),
        threads=job.threads,
    )
    rows = surface.tables(found, task.name, seed)
    for table in SURFACE_TABLES:
        table.write(rows[table.name], getattr(job.output, table.name))
    return details
