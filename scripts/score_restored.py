"""Score a task's models with layers and heads restored, and say whether changes predict costs."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all seeds of one task and state."""
    from darksecrets.ablation.statistics import Resampling
    from darksecrets.data.tasks import Task
    from darksecrets.finetuning.tables import COSINE
    from darksecrets.landscape.results import Restored
    from darksecrets.landscape.scoring import changes_of_maps, score
    from darksecrets.landscape.tables import TABLES

    params, wildcards = job.params, job.wildcards
    results = {
        int(seed): Restored.load(folder)
        for seed, folder in zip(params.seeds, job.input.all("outputs"), strict=True)
    }
    maps = {
        seed: changes_of_maps(COSINE.read(path))
        for seed, path in zip(results, job.input.all("similarity"), strict=False)
    }
    task = Task.from_entry(wildcards.task, params.task)
    found = score(results, maps, task, wildcards.state, Resampling(**params.resampling))
    for table in TABLES:
        table.write(found[table.name], getattr(job.output, table.name))
