"""Measure how far the attention of every two heads is apart (section 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the distances of one task's models, by pair of heads and by example."""
    import pandas as pd

    from darksecrets.attention.store import AttentionStore
    from darksecrets.features.head_distances import Distances
    from darksecrets.features.tables import EXAMPLE_DISTANCES, HEAD_DISTANCES
    from darksecrets.run.tables import identify

    heads, examples = [], []
    for model, store in zip(job.params.models, job.input.all("stores"), strict=True):
        found = Distances.measure(AttentionStore.open(store), job.params.seed)
        heads.append(identify(found.table(), job.wildcards.task, model))
        examples.append(identify(found.by_example(), job.wildcards.task, model))
    HEAD_DISTANCES.write(pd.concat(heads, ignore_index=True), job.output.distances)
    EXAMPLE_DISTANCES.write(pd.concat(examples, ignore_index=True), job.output.examples)
