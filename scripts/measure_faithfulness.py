"""Measure what attention has to do with decisions: gradients, rankings, erased tokens."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all fine-tuned models of one task, and of one with random weights."""
    import pandas as pd

    from darksecrets.data.tasks import Task
    from darksecrets.faithfulness import running
    from darksecrets.faithfulness.tables import TABLES
    from darksecrets.models.loading import Draw
    from darksecrets.run.tables import identify

    params, name = job.params, job.wildcards.task
    random = params.random
    found = running.tables(
        Task.from_entry(name, params.task),
        dict(zip(params.models, job.input.all("finetuned"), strict=True)),
        job.input.pretrained,
        (random, Draw(int(random.partition("/seed-")[2]), params.std)),
        dataset=job.input.dataset,
        sample=job.input.sample,
        examples=params.examples,
        erased=params.erased,
        batch_size=params.batch_size,
        max_length=params.max_length,
        seed=params.seed,
    )
    for table in TABLES:
        parts = [identify(rows, name, model) for model, rows in found[table.name].items()]
        empty = pd.DataFrame(columns=list(table.names))
        rows = pd.concat(parts, ignore_index=True) if parts else empty
        table.write(rows, getattr(job.output, table.name))
