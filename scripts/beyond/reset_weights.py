"""Reset layers of a fine-tuned model to what fine-tuning began with (Hao et al. 2019)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the outputs with layers reset.

    Returns:
        How many models were run, and how far rounding is from the stored outputs.
    """
    from darksecrets.beyond.landscape.declared import Settings
    from darksecrets.beyond.landscape.measure.finetuned import Finetuned
    from darksecrets.beyond.landscape.measure.resetting import reset
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.starting import Start

    params, state, seed = job.params, job.wildcards.state, int(job.wildcards.seed)
    task = Task.from_entry(job.wildcards.task, params.task)
    found, details = reset(
        job.input.pretrained,
        job.input.finetuned,
        job.input.predictions,
        job.input.dataset,
        Finetuned(task, state, seed, params.seed, params.max_length),
        Start.of(state, seed, **params.start),
        Settings.of(params.settings),
        threads=job.threads,
    )
    found.save(job.output.outputs)
    return details
