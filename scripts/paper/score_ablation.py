"""Estimate how every disabled set changes the scores, with intervals and tests (section 4.6)."""

from pathlib import Path

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the effects of heads, layers and custom sets, the best ones' gains, and summaries.

    Also mean effects over seeds.
    """
    import pandas as pd

    from darksecrets.core.data.tasks import Task
    from darksecrets.core.interventions.results import SweepResult, joined
    from darksecrets.core.run.tables import identify
    from darksecrets.paper.ablation.scoring import scored
    from darksecrets.paper.ablation.seeds import effects_over_seeds
    from darksecrets.paper.ablation.statistics import Resampling
    from darksecrets.paper.ablation.tables import EFFECTS, SEED_EFFECTS

    params, resampling = job.params, Resampling(**job.params.resampling)
    tasks = {name: Task.from_entry(name, entry) for name, entry in params.tasks.items()}
    declared_tables = (*EFFECTS, SEED_EFFECTS)
    parts: dict[str, list[pd.DataFrame]] = {table.name: [] for table in declared_tables}
    paths: dict[tuple[str, str], dict[int, Path]] = {}
    for (task, state, seed), path in zip(params.models, job.input.all("sweeps"), strict=True):
        paths.setdefault((task, state), {})[seed] = path
        found = scored(SweepResult.load(path), tasks[task], resampling)
        for name, rows in found.items():
            parts[name].append(identify(rows, task, f"{state}/seed-{seed}"))
    for (task, state), seed_paths in paths.items():
        if len(seed_paths) > 1:
            results = {seed: SweepResult.load(path) for seed, path in seed_paths.items()}
            rows = effects_over_seeds(results, tasks[task], resampling)
            parts[SEED_EFFECTS.name].append(rows.assign(task=task, state=state))
    for declared in declared_tables:
        rows = joined(parts[declared.name], declared.names)
        declared.write(rows, getattr(job.output, declared.name))
