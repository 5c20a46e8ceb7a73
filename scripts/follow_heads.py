"""Measure the maps of every head at the snapshots of a training."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write what was measured; return the error of the snapshots and the time."""
    from darksecrets.data.tasks import Task
    from darksecrets.landscape.following import Settings, Sources, follow
    from darksecrets.patterns import classifier

    params, wildcards, files = job.params, job.wildcards, job.input
    found, details = follow(
        Sources(files.pretrained, files.finetuned, files.snapshots, files.dataset, files.sample),
        classifier.load(files.classifier),
        Settings(
            Task.from_entry(wildcards.task, params.task),
            wildcards.state,
            int(wildcards.seed),
            examples=params.examples,
            sample=params.seed,
            batch_size=params.batch_size,
            max_length=params.max_length,
            std=params.std,
            init_seed=params.init_seed,
            reinitialized_layers=params.reinitialized_layers,
        ),
        threads=job.threads,
    )
    found.save(job.output.heads)
    return {"following": details}
