"""Correlate the importance of heads with what they do (Voita et al. 2019; Prasanna et al. 2020)."""

from _measures import measures_of_heads

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the rank correlations with every measure of heads that the run has."""
    from darksecrets.beyond.importance.declared import HEAD_IMPORTANCE, IMPORTANT_HEADS
    from darksecrets.beyond.importance.statistics import important_heads

    found = important_heads(HEAD_IMPORTANCE.read(job.input.importance), *measures_of_heads(job))
    IMPORTANT_HEADS.write(found, job.output.table)
