"""Measure how much each head attends along frame-semantic links (section 4.2)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the weight of every head with its controls and tests; and the sentence of Figure 3."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.framenet.example import choose, example_table
    from darksecrets.framenet.heads import Linked, measure, table
    from darksecrets.framenet.links import read_table
    from darksecrets.framenet.tables import EXAMPLE, HEADS

    store, annotations = AttentionStore.open(job.input.store), read_table(job.input.links)
    weights = measure(Linked(store, annotations))
    heads = table(weights, job.params.draws, job.params.seed)
    HEADS.write(heads, job.output.table)
    example = choose(store, annotations, weights.linked, heads)
    example.save(job.output.example)
    EXAMPLE.write(example_table(store, annotations, example), job.output.sentence)
