"""Measure losses on a plane and a line through a fine-tuned model's weights (Hao et al. 2019)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the losses of a seed."""
    from darksecrets.beyond.landscape.declared import CORNERS, Surface
    from darksecrets.beyond.landscape.measure.finetuned import Finetuned
    from darksecrets.beyond.landscape.measure.surface import measure
    from darksecrets.core.data.tasks import Task

    params = job.params
    task = Task.from_entry(job.wildcards.task, params.task)
    seed = int(job.wildcards.seed)
    measure(
        dict(zip(CORNERS, job.input.all("models"), strict=True)),
        job.input.dataset,
        Finetuned(task, "finetuned", seed, params.seed, params.max_length),
        Surface.of(params.settings),
        job.output.losses,
        threads=job.threads,
    )
