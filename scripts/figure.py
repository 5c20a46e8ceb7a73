"""Draw a figure, or write a table for the report, with the module that the rule names."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Call `draw` of the module and write the result in every format of the rule's output."""
    from importlib import import_module

    from darksecrets.plotting.drawing import Sources, write

    module, label = job.params.module, job.params.label
    sources = Sources(job.input.all, job.params.tasks, label)
    name = module.rpartition(".")[2]
    drawn = import_module(module).draw(sources)
    write(drawn, list(job.output), script=module, title=f"{name}, {label}")
