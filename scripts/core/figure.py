"""Draw a figure, or write a table for the report, with the module that the rule names."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Call `draw` of the module and write the result in every format of the rule's output."""
    from importlib import import_module

    from darksecrets.core.plotting.drawing import Sources, write

    module, label = job.params.module, job.params.label
    sources = Sources(job.input.all, job.params.tasks, label, job.params.options)
    shown, *details = job.params.caption.splitlines()
    drawn = import_module(module).draw(sources)
    described = {"title": f"{shown} {label}", "description": " ".join(details)}
    write(drawn, list(job.output), script=module, **described)
