"""Measure how flat the loss is around fine-tuned models (Hao et al. 2019)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the numbers of all models of a task."""
    from darksecrets.beyond.landscape.declared import Flatness
    from darksecrets.beyond.landscape.measure.finetuned import Finetuned
    from darksecrets.beyond.landscape.measure.flatness import measure
    from darksecrets.core.data.tasks import Task

    params = job.params
    task = Task.from_entry(job.wildcards.task, params.task)
    models = [
        Finetuned(task, state, seed, params.seed, params.max_length)
        for state, seed in params.models
    ]
    measure(
        list(zip(models, job.input.all("finetuned"), strict=True)),
        job.input.dataset,
        Flatness.of(params.settings),
        job.output.flatness,
        threads=job.threads,
    )
