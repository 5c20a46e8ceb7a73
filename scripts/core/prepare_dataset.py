"""Convert one task from any source to the project's columns, and check every row (section 3)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the data set, and the counts of the checks."""
    from darksecrets.core.data.prepare import prepare
    from darksecrets.core.data.tasks import Task

    prepare(Task.from_entry(job.wildcards.task, job.params.task), job.output.dataset)
