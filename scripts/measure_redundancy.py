"""Measure types of heads, and distances between heads, in all models of a task (section 5)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write distances between heads, and what decides their types, example by example.

    The maps of random weights are made here, and removed at the end.

    Returns:
        How these were computed.
    """
    import pandas as pd
    import torch

    from darksecrets.attention.extraction import random_maps, read_sample
    from darksecrets.attention.store import AttentionStore
    from darksecrets.data.sampling import ANNOTATION, sample
    from darksecrets.features.tokens import describe
    from darksecrets.models.loading import Draw
    from darksecrets.redundancy.head_distances import Distances
    from darksecrets.redundancy.measuring import measure_statistics
    from darksecrets.redundancy.tables import EXAMPLE_DISTANCES, HEAD_DISTANCES
    from darksecrets.run.files import atomic
    from darksecrets.run.tables import identify

    params, output, task = job.params, job.output, job.wildcards.task
    torch.set_num_threads(job.threads)
    *trained, random = params.models
    annotation = next(iter(job.input.all("annotation")), job.input.dataset / ANNOTATION)
    heads: list[pd.DataFrame] = []
    examples: list[pd.DataFrame] = []
    with random_maps(
        job.input.model,
        read_sample(job.input.dataset, sample(job.input.dataset, **params.samples)),
        output.statistics.with_name(".random"),
        max_length=params.max_length,
        batch_size=params.batch_size,
        draw=Draw(int(random.partition("/seed-")[2]), params.std),
    ) as (store_of_random, details):
        stores = {model: AttentionStore.open(job.input.stores / model) for model in trained}
        stores[random] = store_of_random
        with atomic(output.statistics) as folder:
            for model, store in stores.items():
                statistics = measure_statistics(store, describe(store, annotation))
                statistics.save(folder / f"{model}.npz")
                apart = Distances.measure(store, params.samples["seed"])
                heads.append(identify(apart.table(), task, model))
                examples.append(identify(apart.by_example(), task, model))
    HEAD_DISTANCES.write(pd.concat(heads, ignore_index=True), output.head_distances)
    EXAMPLE_DISTANCES.write(pd.concat(examples, ignore_index=True), output.example_distances)
    return {"random weights": details}
