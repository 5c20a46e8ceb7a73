"""Measure the attention maps of a task's models (sections 4.1, 4.3 to 5)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write what heads attend to, the pattern of every map, and changes and distances of heads.

    The maps of random weights are made here, and removed at the end.

    Returns:
        How these were computed.
    """
    import pandas as pd
    import torch

    from darksecrets.attention.extraction import extract, read_sample
    from darksecrets.attention.store import AttentionStore
    from darksecrets.data.sampling import ANNOTATION, sample
    from darksecrets.features.head_distances import Distances
    from darksecrets.features.measures import MEASURES, measure_into
    from darksecrets.features.tables import EXAMPLE_DISTANCES, HEAD_DISTANCES
    from darksecrets.finetuning import cosine
    from darksecrets.finetuning.tables import COSINE, LAYER_SIMILARITY
    from darksecrets.models.loading import Draw
    from darksecrets.patterns import classifier
    from darksecrets.patterns.classification import classify
    from darksecrets.patterns.tables import PATTERN_MAPS
    from darksecrets.run.files import atomic, remove
    from darksecrets.run.tables import identify

    params, output, task = job.params, job.output, job.wildcards.task
    torch.set_num_threads(job.threads)
    seed, (*trained, random) = params.samples["seed"], params.models
    annotation = next(iter(job.input.all("annotation")), job.input.dataset / ANNOTATION)
    of_patterns = classifier.load(job.input.classifier)
    measures = {name: entry.table for name, entry in MEASURES.items()}
    distances = {table.name: table for table in (HEAD_DISTANCES, EXAMPLE_DISTANCES)}
    written = measures | (distances if job.output.all(HEAD_DISTANCES.name) else {})
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in written}
    passing = output.examples.with_name(".random")
    try:
        details = extract(
            job.input.model,
            read_sample(job.input.dataset, sample(job.input.dataset, **params.samples)),
            passing,
            max_length=params.max_length,
            batch_size=params.batch_size,
            draw=Draw(int(random.partition("/seed-")[2]), params.std),
        )
        stores = {model: AttentionStore.open(job.input.stores / model) for model in trained}
        stores[random] = AttentionStore.open(passing)
        with atomic(output.examples) as examples, atomic(output.patterns) as patterns:
            for model, store in stores.items():
                found = measure_into(examples / model, store, annotation, seed)
                if HEAD_DISTANCES.name in written:
                    apart = Distances.measure(store, seed)
                    found[HEAD_DISTANCES.name] = apart.table()
                    found[EXAMPLE_DISTANCES.name] = apart.by_example()
                for name, rows in found.items():
                    parts[name].append(identify(rows, task, model))
                maps = identify(classify(store, of_patterns), task, model)
                PATTERN_MAPS.write(maps, patterns / f"{model}.parquet")
    finally:
        remove(passing)
    for name, table in written.items():
        table.write(pd.concat(parts[name], ignore_index=True), getattr(output, name))
    before, *after = (stores[model] for model in trained)
    seeds = [int(model.partition("/seed-")[2]) for model in trained[1:]]
    changes = cosine.compare_seeds(before, dict(zip(seeds, after, strict=True)))
    for table, of_seed in ((COSINE, cosine.table), (LAYER_SIMILARITY, cosine.layer_table)):
        named = [of_seed(each).assign(task=task, seed=number) for number, each in changes.items()]
        of_task = pd.concat(named, ignore_index=True)[list(table.names)]
        table.write(of_task, getattr(output, table.name))
    return {"random weights": details}
