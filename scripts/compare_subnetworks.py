"""Compare the good subnetworks of seeds and tasks (Prasanna et al. 2020)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write how well seeds agree, and what tasks share."""
    from darksecrets.subnetworks.comparing import subnetwork_agreement, subnetwork_overlap
    from darksecrets.subnetworks.tables import (
        SUBNETWORK_AGREEMENT,
        SUBNETWORK_OVERLAP,
        SUBNETWORKS,
    )

    table, params = SUBNETWORKS.read(job.input.subnetworks), job.params
    agreement = subnetwork_agreement(table, params.seed)
    overlap = subnetwork_overlap(table, params.permutations, params.seed)
    for declared, rows in ((SUBNETWORK_AGREEMENT, agreement), (SUBNETWORK_OVERLAP, overlap)):
        declared.write(rows, getattr(job.output, declared.name))
