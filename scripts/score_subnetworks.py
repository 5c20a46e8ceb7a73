"""Score subnetworks, and compare the good ones of seeds and tasks (Prasanna et al. 2020)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write which parts the subnetworks of all models keep, their scores, and what they share."""
    import pandas as pd

    from darksecrets.ablation.results import SweepResult
    from darksecrets.data.tasks import Task
    from darksecrets.finetuning.tables import predictions
    from darksecrets.run.tables import identify
    from darksecrets.subnetworks.comparing import subnetwork_agreement, subnetwork_overlap
    from darksecrets.subnetworks.statistics import scores
    from darksecrets.subnetworks.tables import (
        MAGNITUDE_PRUNING,
        SUBNETWORK_AGREEMENT,
        SUBNETWORK_OVERLAP,
        SUBNETWORK_SCORES,
        SUBNETWORKS,
    )

    params, retrained = job.params, iter(job.input.all("retrained"))
    options, parts = {"resamples": params.bootstrap, "seed": params.seed}, []
    tables = [SUBNETWORKS.read(path) for path in job.input.all("subnetworks")]
    models = zip(params.models, tables, job.input.all("predictions"), strict=True)
    for (name, seed), table, folder in models:
        task = Task.from_entry(name, params.tasks[name])
        declared = predictions(task.num_labels)
        again = {each: declared.read(next(retrained)) for each in params.retrained}
        found = scores(SweepResult.load(folder), again, table, task, **options)
        parts.append([identify(rows, name, f"finetuned/seed-{seed}") for rows in found])
    every = pd.concat(tables, ignore_index=True)
    of_models = [pd.concat(rows, ignore_index=True) for rows in zip(*parts, strict=True)]
    overlap = subnetwork_overlap(every, params.permutations, params.seed)
    written = dict(zip((SUBNETWORK_SCORES, MAGNITUDE_PRUNING), of_models, strict=True))
    written |= {SUBNETWORKS: every, SUBNETWORK_OVERLAP: overlap}
    written[SUBNETWORK_AGREEMENT] = subnetwork_agreement(every, params.seed)
    for declared, rows in written.items():
        declared.write(rows, getattr(job.output, declared.name))
