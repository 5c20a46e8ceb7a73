"""Tag and parse the sampled sentences of a task (sections 4.4 and 4.5)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the annotation; the record names the pipeline or the files that it is from."""
    from darksecrets.core.data.sampling import sample
    from darksecrets.core.data.tasks import Task
    from darksecrets.paper.features.annotation import annotate

    return annotate(
        job.input.dataset,
        sample(job.input.dataset, **job.params.samples),
        job.output.annotation,
        Task.from_entry(job.wildcards.task, job.params.task),
        job.params.annotation,
    )
