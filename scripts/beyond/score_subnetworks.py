"""Score subnetworks, and compare the good ones of seeds (Prasanna et al. 2020)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write which parts the subnetworks keep, their scores, and whether seeds agree."""
    import pandas as pd

    from darksecrets.beyond.subnetworks.declared import (
        SUBNETWORK_AGREEMENT,
        SUBNETWORK_SCORES,
        SUBNETWORKS,
    )
    from darksecrets.beyond.subnetworks.measure.agreement import subnetwork_agreement
    from darksecrets.beyond.subnetworks.measure.statistics import scores
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.interventions.results import SweepResult
    from darksecrets.core.run.tables import identify
    from darksecrets.paper.finetuning.tables import predictions

    params, retrained = job.params, iter(job.input.all("retrained"))
    options, parts = {"resamples": params.bootstrap, "seed": params.seed}, []
    tables = [SUBNETWORKS.read(path) for path in job.input.all("subnetworks")]
    models = zip(params.models, tables, job.input.all("predictions"), strict=True)
    for (name, seed), table, folder in models:
        task = Task.from_entry(name, params.tasks[name])
        declared = predictions(task.num_labels)
        again = {each: declared.read(next(retrained)) for each in params.retrained}
        found = scores(SweepResult.load(folder), again, table, task, **options)
        parts.append(identify(found, name, f"finetuned/seed-{seed}"))
    every = pd.concat(tables, ignore_index=True)
    written = {
        SUBNETWORKS: every,
        SUBNETWORK_SCORES: pd.concat(parts, ignore_index=True),
        SUBNETWORK_AGREEMENT: subnetwork_agreement(every, params.seed),
    }
    for declared, rows in written.items():
        declared.write(rows, getattr(job.output, declared.name))
