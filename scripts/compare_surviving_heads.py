"""Correlate the survival of heads with what they do (Voita et al. 2019; Prasanna et al. 2020)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the rank correlations with every measure of heads that the run has."""
    from darksecrets.atlas.measures import WHAT_HEADS_DO
    from darksecrets.contracts import TABLES
    from darksecrets.subnetworks.comparing import surviving_heads
    from darksecrets.subnetworks.tables import SUBNETWORKS, SURVIVING_HEADS

    tables = {path.stem: TABLES[path.stem].read(path) for path in job.input.all("tables")}
    found = surviving_heads(
        SUBNETWORKS.read(job.input.subnetworks),
        [shown for shown in WHAT_HEADS_DO if shown.table.name in tables],
        tables,
        job.params.metrics,
        {"permutations": job.params.permutations, "seed": job.params.seed},
    )
    SURVIVING_HEADS.write(found, job.output.table)
