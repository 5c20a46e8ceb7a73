"""Ask fine-tuned models about sentences on which heuristics of entailment are wrong."""

from _tables import write_of_models

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the table of all fine-tuned models of one task."""
    from darksecrets.beyond.inputs.declared import HANS
    from darksecrets.beyond.inputs.hans import read_hans
    from darksecrets.beyond.inputs.heuristics import hans_rows, words_of_task
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.reading import readings

    params, task = job.params, Task.from_entry(job.wildcards.task, job.params.task)
    hans = read_hans(job.input.hans)
    words = words_of_task(task, job.input.dataset, hans)
    models = readings(params.models, job.input.all("finetuned"), **params.reading)
    found = [(name, {HANS: hans_rows(one, task, hans, words)}) for name, one in models.items()]
    write_of_models(job, [HANS], task.name, found)
