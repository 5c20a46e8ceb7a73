"""Estimate the effects of heads and layers over fine-tuning seeds (section 4.6)."""

from pathlib import Path

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write mean effects over seeds, and those of heads chosen in another seed's model."""
    import pandas as pd

    from darksecrets.ablation.results import SweepResult
    from darksecrets.ablation.seeds import over_seeds
    from darksecrets.ablation.statistics import Resampling
    from darksecrets.ablation.tables import SEED_EFFECTS, SEED_TRANSFER
    from darksecrets.data.tasks import Task

    params = job.params
    paths: dict[tuple[str, str], dict[int, Path]] = {}
    for (task, state, seed), path in zip(params.models, job.input.all("sweeps"), strict=True):
        paths.setdefault((task, state), {})[seed] = path
    parts = []
    for (task, state), of_seeds in paths.items():
        entry = Task.from_entry(task, params.tasks[task])
        results = {seed: SweepResult.load(path) for seed, path in of_seeds.items()}
        tables = over_seeds(results, entry, Resampling(**params.resampling))
        parts.append([table.assign(task=task, state=state) for table in tables])
    for number, (declared, path) in enumerate(
        [(SEED_EFFECTS, job.output.effects), (SEED_TRANSFER, job.output.transfer)]
    ):
        found = [part[number] for part in parts if len(part[number])]
        table = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
        declared.write(table.reindex(columns=list(declared.names)), path)
