"""Gather what was measured of all models' maps, and compare the models (sections 4.3 to 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all tasks, and of how models, layers and heads differ."""
    import pandas as pd

    from darksecrets.features import comparisons, diagonal, head_types, profiles, tables
    from darksecrets.features import redundancy_summary as redundancy
    from darksecrets.finetuning import layers
    from darksecrets.finetuning.tables import COSINE, LAST_LAYERS, LAYER_SIMILARITY

    params, output, models = job.params, job.output, job.params.models
    for table in (*tables.TABLES, COSINE):
        if parts := job.input.all(table.name):
            table.gather(parts, getattr(output, table.name))

    tasks = dict.fromkeys(task for task, _ in models)
    folders = dict(zip(tasks, job.input.all("examples"), strict=True))
    loaded = comparisons.load((t, m, folders[t] / m / profiles.FILE) for t, m in models)
    found = comparisons.comparisons(loaded, params.draws, params.resamples, params.seed)
    pairs = tables.TOKEN_PAIRS.read(output.token_pairs)
    found[tables.TOKEN_PAIR_CORRELATIONS.name] = diagonal.diagonal_correlations(
        pairs, params.draws, params.seed
    )
    typed = {
        (task, model): head_types.Typed.of(
            head_types.MapStatistics.load(folders[task] / model / head_types.FILE),
            params.resamples,
            params.seed,
        )
        for task, model in models
    }
    found[tables.HEAD_TYPES.name] = head_types.types(typed)
    found[tables.HEAD_TYPE_COUNTS.name] = head_types.counts(typed)
    found[tables.HEAD_TYPE_AGREEMENT.name] = head_types.agreement(
        typed, params.resamples, params.seed
    )
    if apart := job.input.all(tables.EXAMPLE_DISTANCES.name):
        examples = pd.concat(map(tables.EXAMPLE_DISTANCES.read, apart))
        distances = tables.HEAD_DISTANCES.read(output.head_distances)
        found[tables.REDUNDANCY.name] = redundancy.summarize(examples, distances)
        found[tables.REDUNDANCY_CHANGES.name] = redundancy.changes(examples)
        found[tables.HEAD_POSITIONS.name] = redundancy.positions(distances)
    changes = layers.changes_of(
        [LAYER_SIMILARITY.read(path) for path in job.input.all(LAYER_SIMILARITY.name)]
    )
    found[LAST_LAYERS.name] = layers.last_layers(changes)
    for table in (*tables.TABLES, LAST_LAYERS):
        if table.name in found:
            table.write(found[table.name], getattr(output, table.name))
