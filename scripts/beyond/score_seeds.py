"""Say how much scores depend on initialization and data order, from grids of fine-tunings."""

from _tables import write_joined

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all tasks."""
    from darksecrets.beyond.seeds.declared import TABLES, Settings
    from darksecrets.beyond.seeds.measure.grid import read
    from darksecrets.beyond.seeds.measure.statistics import tables
    from darksecrets.core.data.tasks import Task

    params = job.params
    settings = Settings.of(params.settings)
    seeds = settings.init_seeds, settings.order_seeds
    files = list(zip(job.input.all("predictions"), job.input.all("curves"), strict=True))
    runs, parts = len(settings.init_seeds) * len(settings.order_seeds), []
    of_tasks = zip(params.tasks.items(), job.input.all("baselines"), strict=True)
    for place, ((name, entry), path) in enumerate(of_tasks):
        own = files[place * runs : (place + 1) * runs]
        found = read(Task.from_entry(name, entry), *seeds, own, path)
        parts.append(tables(found, params.resamples, params.seed))
    write_joined(job, TABLES, [[part[table.name] for table in TABLES] for part in parts])
