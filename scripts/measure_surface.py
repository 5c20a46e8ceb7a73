"""Measure losses on planes through a fine-tuned model's weights (Li et al. 2018)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the losses on all planes, as arrays and as tables.

    Returns:
        The precision, its error, and how far models are from their stored outputs.
    """
    from darksecrets.data.tasks import Task
    from darksecrets.landscape import surface
    from darksecrets.landscape.surface_tables import CORNERS, TABLES
    from darksecrets.landscape.surfaces import Model, Settings, measure

    params, wildcards = job.params, job.wildcards
    folders = dict(zip(CORNERS, job.input.all("models"), strict=True))
    predictions = dict(zip(CORNERS, job.input.all("predictions"), strict=True))
    found, details = measure(
        {name: Model(folders[name], predictions[name]) for name in CORNERS},
        job.input.dataset,
        Settings(
            Task.from_entry(wildcards.task, params.task),
            int(wildcards.seed),
            grid=params.surface["grid"],
            radius=params.surface["radius"],
            examples=params.surface["examples"],
            training=params.surface["training"],
            sample=params.seed,
            max_length=params.max_length,
            precision=params.surface["precision"],
        ),
        job.output.surface,
        snapshots=next(iter(job.input.all("snapshots")), None),
        threads=job.threads,
    )
    rows = surface.tables(found, wildcards.task, int(wildcards.seed))
    for table in TABLES:
        table.write(rows[table.name], getattr(job.output, table.name))
    return details
