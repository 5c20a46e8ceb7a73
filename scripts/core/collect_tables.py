"""Concatenate the tables of single jobs into tables of the run."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Concatenate the parts of every table in the order of the rule's inputs."""
    from darksecrets.pages.contracts import TABLES

    for name in job.params.tables:
        TABLES[name].gather(job.input.all(name), getattr(job.output, name))
