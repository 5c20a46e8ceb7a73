"""Choose a typical map of every pattern among those of the run (Figure 1)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write where the maps are from, their tokens and their arrays."""
    from darksecrets.core.run import learned
    from darksecrets.paper.patterns.maps import typical
    from darksecrets.paper.patterns.tables import TYPICAL_MAPS

    unlearned = learned.read(job.input.learned)
    tasks = dict.fromkeys(task for task, _ in job.params.models)
    folders = zip(job.input.all("patterns"), job.input.all("stores"), strict=True)
    places = dict(zip(tasks, folders, strict=True))
    drawn = [
        (places[task][0] / f"{model}.parquet", places[task][1] / model)
        for task, model in typical.drawn_models(job.params.models, unlearned)
    ]
    table, maps = typical.choose(drawn)
    TYPICAL_MAPS.write(table, job.output.table)
    typical.save(table["pattern"], maps, job.output.maps)
