"""Compare models by each measure of attention, and decide claims by each (sections 4.2 to 5)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write every table of heads, of comparisons of models and of claims, for all measures."""
    import pandas as pd

    from darksecrets.beyond.attention_measures.declared import OF_HEADS, OF_MODELS, prepend_weights
    from darksecrets.beyond.attention_measures.statistics import compared
    from darksecrets.core.run.columns import table_of_weights
    from darksecrets.pages.claims import measures, registry, sources
    from darksecrets.pages.claims.tables import CLAIMS_BY_MEASURE
    from darksecrets.pages.contracts import TABLES
    from darksecrets.paper.features.tables import TOKEN_PAIRS

    params = job.params
    found = {
        table_of_weights(table): pd.concat(map(table.read, paths), ignore_index=True)
        for table in OF_HEADS
        if (paths := job.input.all(table_of_weights(table)))
    }
    found |= compared(
        params.measures,
        found[TOKEN_PAIRS.name],
        dict(zip(params.tasks, job.input.all("examples"), strict=True)),
        [tuple(names) for names in params.models],
        draws=params.draws,
        resamples=params.resamples,
        seed=params.seed,
    )
    weights, made = {path.stem: path for path in job.input.all("weights")}, []
    for table in (*OF_HEADS, *OF_MODELS):
        if (name := table_of_weights(table)) in found:
            made.append(getattr(job.output, name))
            own = TABLES[name].read(weights[name])
            table.write(prepend_weights(own, found[name]), made[-1])

    files = [*job.input.all("tables"), *made]
    papers = registry.select_for_run(registry.read(job.input.all("registry")), params.analyses)
    papers = measures.concerned(papers, [table_of_weights(TABLES[file.stem]) for file in files])
    tables = sources.read(files, TABLES)
    decided = measures.table(papers, tables, sources.Run(**params.run), params.measures)
    CLAIMS_BY_MEASURE.write(decided, job.output.claims)
