"""Bring one task into the project's columns, from any source, and check every row (section 3)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the data set, and beside it what the checks counted."""
    from darksecrets.data.prepare import prepare
    from darksecrets.data.tasks import TASKS

    prepare(TASKS[job.wildcards.task], job.params.source, job.output.dataset)
