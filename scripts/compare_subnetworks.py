"""Compare good subnetworks of seeds and tasks, and what their heads do (Prasanna et al. 2020)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the agreement of seeds, what tasks share, and correlations with measures of heads."""
    from darksecrets.atlas.measures import SHOWN
    from darksecrets.contracts import TABLES
    from darksecrets.subnetworks.comparing import (
        subnetwork_agreement,
        subnetwork_overlap,
        surviving_heads,
    )
    from darksecrets.subnetworks.tables import (
        SUBNETWORK_AGREEMENT,
        SUBNETWORK_OVERLAP,
        SUBNETWORKS,
        SURVIVING_HEADS,
    )

    table, params = SUBNETWORKS.read(job.input.subnetworks), job.params
    tables = {path.stem: TABLES[path.stem].read(path) for path in job.input.all("tables")}
    draws = {"permutations": params.permutations, "seed": params.seed}
    shown = [each for each in SHOWN if each.table.name in tables]
    written = (
        (SUBNETWORK_AGREEMENT, subnetwork_agreement(table, params.seed)),
        (SUBNETWORK_OVERLAP, subnetwork_overlap(table, **draws)),
        (SURVIVING_HEADS, surviving_heads(table, shown, tables, params.metrics, draws)),
    )
    for declared, rows in written:
        declared.write(rows, getattr(job.output, declared.name))
