"""Say how much scores depend on the seeds of start and order, from a grid of fine-tunings."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of one task."""
    from darksecrets.data.tasks import Task
    from darksecrets.seeds import grid, statistics
    from darksecrets.seeds.tables import TABLES

    params = job.params
    files = zip(job.input.all("predictions"), job.input.all("curves"), strict=True)
    found = grid.read(
        Task.from_entry(job.wildcards.task, params.task), params.inits, params.orders, [*files]
    )
    made = statistics.tables(found, params.resamples, params.seed)
    for table in TABLES:
        table.write(made[table.name], getattr(job.output, table.name))
