"""Score models with layers reset."""

from _job import Job, script
from _tables import write_joined


@script
def main(job: Job) -> None:
    """Write the tables of all tasks, states and seeds."""
    from darksecrets.ablation.statistics import Resampling
    from darksecrets.data.tasks import Task
    from darksecrets.landscape.results import Reset
    from darksecrets.landscape.statistics import score
    from darksecrets.landscape.tables import TABLES

    params, parts = job.params, []
    outputs = iter(job.input.all("outputs"))
    tasks = [Task.from_entry(name, entry) for name, entry in params.tasks.items()]
    for task in tasks:
        for state in params.states:
            results = {int(seed): Reset.load(next(outputs)) for seed in params.seeds[task.name]}
            parts.append(score(results, task, state, Resampling(**params.resampling)))
    write_joined(job, TABLES, [[part[table.name] for table in TABLES] for part in parts])
