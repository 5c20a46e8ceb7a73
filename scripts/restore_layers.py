"""Put weights that fine-tuning began with back into a fine-tuned model (Hao et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the outputs with layers and heads restored, and between both models.

    Returns:
        How many models were run, and how far rounding is from the stored outputs.
    """
    from darksecrets.data.tasks import Task
    from darksecrets.landscape.restoring import Settings, restore

    params, wildcards = job.params, job.wildcards
    found, details = restore(
        job.input.pretrained,
        job.input.finetuned,
        job.input.predictions,
        job.input.dataset,
        Settings(
            Task.from_entry(wildcards.task, params.task),
            wildcards.state,
            int(wildcards.seed),
            points=params.points,
            examples=params.examples,
            training=params.training,
            sample=params.seed,
            max_length=params.max_length,
            std=params.std,
            init_seed=params.init_seed,
            reinitialized_layers=params.reinitialized_layers,
        ),
        threads=job.threads,
    )
    found.save(job.output.outputs)
    return details
