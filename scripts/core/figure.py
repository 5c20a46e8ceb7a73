"""Draw a figure, or write a table for the report, with the function that the rule names."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Call the function and write the result in every format of the rule's output."""
    from importlib import import_module

    from darksecrets.core.plotting.drawing import Sources, describe, write

    module, label = job.params.module, job.params.label
    sources = Sources(job.input.all, job.params.tasks, label, job.params.options)
    drawn = getattr(import_module(module), job.params.function)(sources)
    write(drawn, list(job.output), script=module, **describe(job.params.caption, label))
