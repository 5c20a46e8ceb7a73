"""Convert one task from any source to the project's columns, and check every row (section 3)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the data set, and the counts of the checks."""
    from darksecrets.data.prepare import prepare
    from darksecrets.data.tasks import Task

    prepare(Task.from_entry(job.wildcards.task, job.params.task), job.output.dataset)
