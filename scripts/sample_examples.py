"""Draw the validation examples whose attention is studied (section 3)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the ``idx`` of the sampled examples."""
    from darksecrets.data.checks import sample
    from darksecrets.run.files import write_table

    write_table(sample(job.input.dataset, job.params.size, job.params.seed), job.output.sample)
