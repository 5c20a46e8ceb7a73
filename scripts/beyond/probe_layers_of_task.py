"""Probe the layers of a task's models for what they know of its examples, and of words."""

from _tables import write_of_models

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of fine-tuned models; of others, what they know of the examples."""
    from darksecrets.beyond.layers.declared import TABLES, Settings
    from darksecrets.beyond.layers.measure.running import Examples, example_tables, treebank_tables
    from darksecrets.core.data import treebank
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.reading import readings

    params, sentences = job.params, treebank.read(job.input.treebank)
    settings, task = Settings.of(params.settings), Task.from_entry(job.wildcards.task, params.task)
    examples = Examples.read(task, job.input.dataset, settings)
    finetuned, others = job.input.all("finetuned"), [job.input.pretrained] * 2
    models = readings(params.models, [*finetuned, *others], **params.reading)
    found = [(name, example_tables(one, examples, settings)) for name, one in models.items()]
    for name in params.models[: len(finetuned)]:
        found.append((name, treebank_tables(models[name], sentences, settings, examples)))
    write_of_models(job, TABLES, task.name, found)
