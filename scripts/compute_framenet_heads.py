"""Measure how much each head attends along frame-semantic links (section 4.2)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the weight of every head, its control and its tests; and the maps of Figure 3."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.framenet.example import choose
    from darksecrets.framenet.heads import measure, table
    from darksecrets.framenet.links import read_table
    from darksecrets.framenet.tables import HEADS

    store, annotations = AttentionStore.open(job.input.store), read_table(job.input.links)
    weights = measure(store, annotations, job.params.draws, job.params.seed)
    HEADS.write(table(weights), job.output.table)
    choose(store, annotations, weights).save(job.output.example)
