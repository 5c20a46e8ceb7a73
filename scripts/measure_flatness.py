"""Measure how flat the loss is around a fine-tuned model (Keskar et al. 2017; Hao et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the numbers of one model.

    Returns:
        How many weights were moved, and how many seconds it took.
    """
    from darksecrets.data.tasks import Task
    from darksecrets.landscape.measuring import Settings, measure
    from darksecrets.landscape.tables import FLATNESS

    params, wildcards = job.params, job.wildcards
    table, details = measure(
        job.input.finetuned,
        job.input.dataset,
        Settings(
            Task.from_entry(wildcards.task, params.task),
            wildcards.state,
            int(wildcards.seed),
            sample=params.seed,
            max_length=params.max_length,
            **params.settings,
        ),
        threads=job.threads,
    )
    FLATNESS.write(table, job.output.flatness)
    return details
