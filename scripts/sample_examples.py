"""Sample the validation examples whose attention is studied (section 3)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the ``idx`` of the sampled examples."""
    from darksecrets.data.checks import sample
    from darksecrets.data.tables import SAMPLE

    examples = sample(job.input.dataset, job.params.size, job.params.seed)
    SAMPLE.write(examples, job.output.sample)
