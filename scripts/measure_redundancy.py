"""Measure how far the attention of every two heads is apart (section 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the distances of one task and model, by pair of heads and by example."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.features.head_distances import Distances
    from darksecrets.features.tables import EXAMPLE_DISTANCES, HEAD_DISTANCES
    from darksecrets.run.tables import identify

    found = Distances.measure(AttentionStore.open(job.input.store), job.params.seed)
    for rows, declared, path in (
        (found.table(), HEAD_DISTANCES, job.output.distances),
        (found.by_example(), EXAMPLE_DISTANCES, job.output.examples),
    ):
        declared.write(identify(rows, job.wildcards.task, job.wildcards.model), path)
