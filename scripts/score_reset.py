"""Score models with layers and heads reset, and say whether changes predict costs."""

from _job import Job, script
from _tables import write_joined


@script
def main(job: Job) -> None:
    """Write the tables of all tasks, states and seeds."""
    from darksecrets.ablation.statistics import Resampling
    from darksecrets.data.tasks import Task
    from darksecrets.finetuning.tables import COSINE
    from darksecrets.landscape.results import Reset
    from darksecrets.landscape.statistics import changes_of_maps, score
    from darksecrets.landscape.tables import TABLES

    params, parts = job.params, []
    outputs = iter(job.input.all("outputs"))
    tasks = [Task.from_entry(name, entry) for name, entry in params.tasks.items()]
    for task, similarity in zip(tasks, job.input.all("similarity"), strict=True):
        of_seeds = COSINE.read(similarity).groupby("seed", sort=False)
        maps = {int(str(seed)): changes_of_maps(rows) for seed, rows in of_seeds}
        for state in params.states:
            results = {int(seed): Reset.load(next(outputs)) for seed in params.seeds[task.name]}
            known = maps if state == "finetuned" else {}
            parts.append(score(results, known, task, state, Resampling(**params.resampling)))
    write_joined(job, TABLES, [[part[table.name] for table in TABLES] for part in parts])
