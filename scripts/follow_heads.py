"""Measure the maps of every head at the snapshots of a training."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write what was measured; return the error of the snapshots and the time."""
    from darksecrets.data.sampling import sample
    from darksecrets.data.tasks import Task
    from darksecrets.landscape.finetuned import Finetuned
    from darksecrets.landscape.following import Sources, follow
    from darksecrets.models.starting import Start
    from darksecrets.patterns import classifier

    params, files = job.params, job.input
    state, seed = job.wildcards.state, int(job.wildcards.seed)
    task = Task.from_entry(job.wildcards.task, params.task)
    start = Start.of(state, seed, **params.start)
    found, details = follow(
        Sources(
            *(files.pretrained, start, files.finetuned, files.snapshots),
            *(files.dataset, sample(files.dataset, **params.samples)),
        ),
        classifier.load(files.classifier),
        Finetuned(task, state, seed, params.seed, params.max_length),
        examples=params.examples,
        batch_size=params.batch_size,
        threads=job.threads,
    )
    found.save(job.output.heads)
    return {"following": details}
