"""Count the patterns of all maps, and compare them between models (section 4.1, Figure 2)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the patterns of all maps, shares, those of every head, and agreement."""
    import pandas as pd

    from darksecrets.paper.patterns import shares, tables
    from darksecrets.paper.patterns.head_agreement import pattern_agreement
    from darksecrets.paper.patterns.labelled_maps import encoder_of

    params, output = job.params, job.output
    predictions = tables.PATTERN_PREDICTIONS.read(job.input.predictions)
    known = shares.count(predictions, params.resamples, params.seed)
    tasks = dict.fromkeys(task for task, _ in params.models)
    maps = dict(zip(tasks, job.input.all("maps"), strict=True))
    paths = [maps[task] / f"{model}.parquet" for task, model in params.models]
    of_models: list[pd.DataFrame] = []
    of_heads: list[pd.DataFrame] = []
    for path in paths:
        # One at a time: together they may be millions of rows.
        own = tables.PATTERN_MAPS.read(path, [*tables.PATTERN_MAPS.key, "pattern", "strict"])
        origin = own[["task", "state", "seed"]].iloc[:1]
        state = origin["state"].item()
        encoder, seed = encoder_of(params.encoder, state), params.seed + 1
        counted = shares.table(own, known, encoder, state, params.resamples, seed)
        of_models.append(origin.merge(counted, how="cross"))
        of_heads.append(origin.merge(shares.shares_by_head(own), how="cross"))
    patterns = pd.concat(of_models, ignore_index=True)[list(tables.PATTERN_SHARES.names)]
    tables.PATTERN_SHARES.write(patterns, output.patterns)
    tables.PATTERN_HEADS.write(pd.concat(of_heads, ignore_index=True), output.pattern_heads)
    heads = tables.PATTERN_HEADS.read(output.pattern_heads)
    agreement = pattern_agreement(heads, params.resamples, params.seed)
    tables.PATTERN_AGREEMENT.write(agreement, output.pattern_agreement)
    tables.PATTERN_MAPS.gather(paths, output.pattern_maps)
