"""Score subnetworks, as they are and re-trained, and pruned weights (Prasanna et al. 2020)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the scores of one model's subnetworks and of magnitude pruning."""
    import pandas as pd

    from darksecrets.ablation.results import SweepResult
    from darksecrets.data.tasks import Task
    from darksecrets.finetuning.tables import predictions
    from darksecrets.run.tables import identify
    from darksecrets.subnetworks.results import with_retrained
    from darksecrets.subnetworks.statistics import magnitude_pruning, subnetwork_scores
    from darksecrets.subnetworks.tables import (
        AS_IT_IS,
        MAGNITUDE_PRUNING,
        RETRAINED,
        SUBNETWORK_SCORES,
        SUBNETWORKS,
    )

    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    table, result = SUBNETWORKS.read(job.input.subnetworks), SweepResult.load(job.input.predictions)
    options = {"resamples": params.bootstrap, "seed": params.seed}
    results = {AS_IT_IS: result}
    if params.retrained:
        declared = predictions(task.num_labels)
        files = zip(params.retrained, job.input.all("retrained"), strict=True)
        retrained = {name.replace("-", " "): declared.read(path) for name, path in files}
        results[RETRAINED] = with_retrained(result, retrained)
    scores = [
        subnetwork_scores(each, table, task, trained=trained, **options)
        for trained, each in results.items()
    ]
    written = (
        (SUBNETWORK_SCORES, pd.concat(scores, ignore_index=True)),
        (MAGNITUDE_PRUNING, magnitude_pruning(result, task, **options)),
    )
    model = f"finetuned/seed-{job.wildcards.seed}"
    for each, rows in written:
        each.write(identify(rows, task.name, model), getattr(job.output, each.name))
