"""Measure the attention maps of a task's models (sections 4.1, 4.3 to 5)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write what heads attend to, the pattern of every map, and changes of heads."""
    import pandas as pd
    import torch

    from darksecrets.core.attention.store import AttentionStore
    from darksecrets.core.run.files import atomic
    from darksecrets.core.run.tables import identify
    from darksecrets.paper.features.measures import TABLES
    from darksecrets.paper.features.measuring import measure_into
    from darksecrets.paper.finetuning import cosine
    from darksecrets.paper.finetuning.tables import COSINE, LAYER_SIMILARITY
    from darksecrets.paper.patterns.network import classifier
    from darksecrets.paper.patterns.network.classification import classify
    from darksecrets.paper.patterns.tables import PATTERN_MAPS

    params, output, task = job.params, job.output, job.wildcards.task
    torch.set_num_threads(job.threads)
    trained = params.models[:-1]
    pattern_classifier = classifier.load(job.input.classifier)
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in TABLES}
    stores = {model: AttentionStore.open(job.input.stores / model) for model in params.models}
    with atomic(output.examples) as examples, atomic(output.patterns) as patterns:
        for model, store in stores.items():
            found = measure_into(examples / model, store, job.input.annotation, params.seed)
            for name, rows in found.items():
                parts[name].append(identify(rows, task, model))
            maps = identify(classify(store, pattern_classifier), task, model)
            PATTERN_MAPS.write(maps, patterns / f"{model}.parquet")
    for name, table in TABLES.items():
        table.write(pd.concat(parts[name], ignore_index=True), getattr(output, name))
    before, *after = (stores[model] for model in trained)
    seeds = [int(model.partition("/seed-")[2]) for model in trained[1:]]
    changes = cosine.compare_seeds(before, dict(zip(seeds, after, strict=True)))
    for table, make_table in ((COSINE, cosine.table), (LAYER_SIMILARITY, cosine.layer_table)):
        named = [
            make_table(each).assign(task=task, seed=number) for number, each in changes.items()
        ]
        task_rows = pd.concat(named, ignore_index=True)[list(table.names)]
        table.write(task_rows, getattr(output, table.name))
