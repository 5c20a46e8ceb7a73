"""Concatenate the tables of single jobs of an analysis into tables of the run."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Concatenate the parts of every table in the order of the rule's inputs."""
    from darksecrets.beyond import analyses

    for name in job.params.tables:
        analyses.tables()[name].gather(job.input.all(name), getattr(job.output, name))
