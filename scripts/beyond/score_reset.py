"""Score models with layers reset."""

from _tables import write_joined

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all tasks, states and seeds."""
    from darksecrets.beyond.landscape.declared import RESET_TABLES
    from darksecrets.beyond.landscape.measure.results import Reset
    from darksecrets.beyond.landscape.measure.statistics import score
    from darksecrets.core.data.tasks import Task
    from darksecrets.paper.ablation.statistics import Resampling

    params, parts = job.params, []
    outputs = iter(job.input.all("outputs"))
    tasks = [Task.from_entry(name, entry) for name, entry in params.tasks.items()]
    for task in tasks:
        for state in params.states:
            results = {int(seed): Reset.load(next(outputs)) for seed in params.seeds[task.name]}
            parts.append(score(results, task, state, Resampling(**params.resampling)))
    write_joined(
        job, RESET_TABLES, [[part[table.name] for table in RESET_TABLES] for part in parts]
    )
