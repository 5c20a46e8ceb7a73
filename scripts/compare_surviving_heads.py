"""Correlate the survival of heads with what they do (Voita et al. 2019; Prasanna et al. 2020)."""

from _job import Job, script
from _measures import measures_of_heads


@script
def main(job: Job) -> None:
    """Write the rank correlations with every measure of heads that the run has."""
    from darksecrets.subnetworks.comparing import surviving_heads
    from darksecrets.subnetworks.tables import SUBNETWORKS, SURVIVING_HEADS

    found = surviving_heads(SUBNETWORKS.read(job.input.subnetworks), *measures_of_heads(job))
    SURVIVING_HEADS.write(found, job.output.table)
