"""Summarize how redundant the heads of all models are (section 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Gather the distances; write their means, the changes, and the heads' positions."""
    import pandas as pd

    from darksecrets.features.redundancy_summary import changes, positions, summarize
    from darksecrets.features.tables import (
        EXAMPLE_DISTANCES,
        HEAD_DISTANCES,
        HEAD_POSITIONS,
        REDUNDANCY,
        REDUNDANCY_CHANGES,
    )

    HEAD_DISTANCES.gather(job.input.all("distances"), job.output.distances)
    distances = HEAD_DISTANCES.read(job.output.distances)
    examples = pd.concat(map(EXAMPLE_DISTANCES.read, job.input.all("examples")))
    REDUNDANCY.write(summarize(examples, distances), job.output.redundancy)
    REDUNDANCY_CHANGES.write(changes(examples), job.output.changes)
    HEAD_POSITIONS.write(positions(distances), job.output.positions)
