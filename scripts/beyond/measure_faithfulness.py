"""Measure what attention has to do with decisions: gradients, rankings, erased tokens."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all fine-tuned models of one task, and of one with random weights."""
    import pandas as pd

    from darksecrets.beyond.faithfulness.declared import TABLES, Settings
    from darksecrets.beyond.faithfulness.measure.running import tables
    from darksecrets.core.data.sampling import sample
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.reading import readings
    from darksecrets.core.run.tables import identify

    params, name = job.params, job.wildcards.task
    folders = [*job.input.all("finetuned"), job.input.pretrained]
    found = tables(
        Task.from_entry(name, params.task),
        readings(params.models, folders, **params.reading),
        job.input.dataset,
        sample(job.input.dataset, **params.samples),
        Settings.of(params.settings),
        params.seed,
    )
    for table in TABLES:
        parts = [identify(rows, name, model) for model, rows in found[table.name].items()]
        empty = pd.DataFrame(columns=list(table.names))
        rows = pd.concat(parts, ignore_index=True) if parts else empty
        table.write(rows, getattr(job.output, table.name))
