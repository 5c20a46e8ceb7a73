"""Compare the patterns of the same heads on other tasks and with other seeds (section 4.1)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the agreement of every two tasks, and of the seeds of every task."""
    from darksecrets.patterns.repetition import pattern_agreement
    from darksecrets.patterns.tables import PATTERN_AGREEMENT, PATTERN_HEADS

    heads = PATTERN_HEADS.read(job.input.heads)
    table = pattern_agreement(heads, job.params.resamples, job.params.seed)
    PATTERN_AGREEMENT.write(table, job.output.table)
