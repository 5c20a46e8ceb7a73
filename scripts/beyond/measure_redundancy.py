"""Measure types of heads, and distances between heads, in all models of a task (section 5)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write distances between heads, and what decides their types, example by example."""
    import pandas as pd
    import torch

    from darksecrets.beyond.redundancy.declared import EXAMPLE_DISTANCES, HEAD_DISTANCES
    from darksecrets.beyond.redundancy.measure.distances import Distances
    from darksecrets.beyond.redundancy.measure.head_types import measure_statistics
    from darksecrets.core.attention.store import AttentionStore
    from darksecrets.core.run.files import atomic
    from darksecrets.core.run.tables import identify
    from darksecrets.paper.features.tokens import describe

    params, output, task = job.params, job.output, job.wildcards.task
    torch.set_num_threads(job.threads)
    heads: list[pd.DataFrame] = []
    examples: list[pd.DataFrame] = []
    with atomic(output.statistics) as folder:
        for model in params.models:
            store = AttentionStore.open(job.input.stores / model)
            statistics = measure_statistics(store, describe(store, job.input.annotation))
            statistics.save(folder / f"{model}.npz")
            apart = Distances.measure(store, params.seed)
            heads.append(identify(apart.table(), task, model))
            examples.append(identify(apart.mean_by_example(), task, model))
    HEAD_DISTANCES.write(pd.concat(heads, ignore_index=True), output.head_distances)
    EXAMPLE_DISTANCES.write(pd.concat(examples, ignore_index=True), output.example_distances)
