"""Estimate how every disabled set changes the scores, with intervals and tests (section 4.6)."""

from pathlib import Path

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the effects of heads, layers and custom sets, the best ones' gains, and summaries.

    Also mean effects over seeds, and those of heads chosen in another seed's model.
    """
    import pandas as pd

    from darksecrets.ablation.results import SweepResult, joined
    from darksecrets.ablation.scoring import scored
    from darksecrets.ablation.seeds import over_seeds
    from darksecrets.ablation.statistics import Resampling
    from darksecrets.ablation.tables import EFFECTS, OVER_SEEDS
    from darksecrets.data.tasks import Task
    from darksecrets.run.tables import identify

    params, resampling = job.params, Resampling(**job.params.resampling)
    tasks = {name: Task.from_entry(name, entry) for name, entry in params.tasks.items()}
    parts: dict[str, list[pd.DataFrame]] = {table.name: [] for table in (*EFFECTS, *OVER_SEEDS)}
    paths: dict[tuple[str, str], dict[int, Path]] = {}
    for (task, state, seed), path in zip(params.models, job.input.all("sweeps"), strict=True):
        paths.setdefault((task, state), {})[seed] = path
        found = scored(SweepResult.load(path), tasks[task], resampling)
        for name, rows in found.items():
            parts[name].append(identify(rows, task, f"{state}/seed-{seed}"))
    for (task, state), of_seeds in paths.items():
        if len(of_seeds) > 1:
            results = {seed: SweepResult.load(path) for seed, path in of_seeds.items()}
            tables = over_seeds(results, tasks[task], resampling)
            for declared, rows in zip(OVER_SEEDS, tables, strict=True):
                parts[declared.name].append(rows.assign(task=task, state=state))
    for declared in (*EFFECTS, *OVER_SEEDS):
        rows = joined(parts[declared.name], declared.names)
        declared.write(rows, getattr(job.output, declared.name))
