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

    examples = []
    files = zip(
        job.params.models, job.input.all("stores"), job.output.all("distances"), strict=True
    )
    for model, store, path in files:
        found = Distances.measure(AttentionStore.open(store), job.params.seed)
        HEAD_DISTANCES.write(identify(found.table(), job.wildcards.task, model), path)
        examples.append(identify(found.by_example(), job.wildcards.task, model))
    EXAMPLE_DISTANCES.write(pd.concat(examples, ignore_index=True), job.output.examples)
