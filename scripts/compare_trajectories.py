"""Say when the heads and layers of all followed models change."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of the heads' trajectories."""
    from darksecrets.landscape.followed import Followed
    from darksecrets.landscape.trajectories import compare
    from darksecrets.landscape.trajectory_tables import TABLES

    models: dict[tuple[str, str], dict[int, Followed]] = {}
    for (task, state, seed), folder in zip(job.params.models, job.input.all("heads"), strict=True):
        models.setdefault((task, state), {})[int(seed)] = Followed.load(folder)
    found = compare(models, job.params.seed)
    for table in TABLES:
        table.write(found[table.name], getattr(job.output, table.name))
