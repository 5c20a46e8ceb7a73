"""Score models with heads removed, and count the heads that a layer needs (Michel et al. 2019)."""

from _tables import write_joined

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the scores of every order, which heads can be removed, and what layers need."""
    from darksecrets.beyond.importance.declared import OF_PRUNING, PRUNING_CHOICES, PRUNING_ORDERS
    from darksecrets.beyond.importance.measure.pruning import scores
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.interventions.results import SweepResult
    from darksecrets.core.run.tables import identify

    params, parts = job.params, []
    options = {"tolerance": params.tolerance, "resamples": params.bootstrap, "seed": params.seed}
    files = zip(*(job.input.all(name) for name in ("pruned", "orders", "choices")), strict=True)
    for (name, seed), (pruned, orders, choices) in zip(params.models, files, strict=True):
        read = PRUNING_ORDERS.read(orders), PRUNING_CHOICES.read(choices)
        task = Task.from_entry(name, params.tasks[name])
        found = scores(SweepResult.load(pruned), *read, task, **options)
        parts.append([identify(rows, name, f"finetuned/seed-{seed}") for rows in found])
    write_joined(job, OF_PRUNING, parts)
