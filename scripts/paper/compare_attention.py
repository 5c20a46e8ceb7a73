"""Gather what was measured of all models' maps, and compare the models (sections 4.3 to 5)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of all tasks, and of how models, layers and heads differ."""
    from darksecrets.paper.features import comparisons, diagonal, profiles, tables
    from darksecrets.paper.finetuning import layers
    from darksecrets.paper.finetuning.tables import COSINE, LAST_LAYERS, LAYER_SIMILARITY

    params, output, models = job.params, job.output, job.params.models
    for table in (*tables.TABLES, COSINE):
        if parts := job.input.all(table.name):
            table.gather(parts, getattr(output, table.name))

    tasks = dict.fromkeys(task for task, _ in models)
    folders = dict(zip(tasks, job.input.all("examples"), strict=True))
    loaded = comparisons.load((t, m, folders[t] / m / profiles.FILE) for t, m in models)
    found = comparisons.comparisons(loaded, params.draws, params.resamples, params.seed)
    if job.input.all(tables.TOKEN_PAIRS.name):  # there are none without words
        pairs = tables.TOKEN_PAIRS.read(output.token_pairs)
        found[tables.TOKEN_PAIR_CORRELATIONS.name] = diagonal.diagonal_correlations(
            pairs, params.draws, params.seed
        )
    changes = layers.changes_of(
        [LAYER_SIMILARITY.read(path) for path in job.input.all(LAYER_SIMILARITY.name)]
    )
    found[LAST_LAYERS.name] = layers.last_layers(changes)
    for table in (*tables.TABLES, LAST_LAYERS):
        if table.name in found:
            table.write(found[table.name], getattr(output, table.name))
