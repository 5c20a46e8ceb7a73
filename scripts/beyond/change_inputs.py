"""Let fine-tuned models read inputs that no person could answer."""

from _tables import write_of_models

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the table of all fine-tuned models of one task."""
    from darksecrets.beyond.inputs.declared import CHANGED_INPUTS, Settings
    from darksecrets.beyond.inputs.measure import measure, read_examples
    from darksecrets.core.data.sampling import sample
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.reading import readings

    params, task = job.params, Task.from_entry(job.wildcards.task, job.params.task)
    drawn = sample(job.input.dataset, **params.samples)
    annotations = job.input.all("annotation")
    settings = Settings.of(params.settings)
    examples = read_examples(
        task, job.input.dataset, drawn, annotations[0] if annotations else None, settings
    )
    models = readings(params.models, job.input.all("finetuned"), **params.reading)
    found = [
        (name, {CHANGED_INPUTS: measure(reading, examples)}) for name, reading in models.items()
    ]
    write_of_models(job, [CHANGED_INPUTS], task.name, found)
