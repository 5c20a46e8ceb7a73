"""Count the patterns of all maps, and compare them between models (section 4.1, Figure 2)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the patterns of all maps, shares, those of every head, stripes, and agreement."""
    import pandas as pd

    from darksecrets.features import strongest
    from darksecrets.patterns import shares, tables
    from darksecrets.patterns.annotations import encoder_of
    from darksecrets.patterns.columns import stripe_tokens
    from darksecrets.patterns.repetition import pattern_agreement

    params, output = job.params, job.output
    predictions = tables.PATTERN_PREDICTIONS.read(job.input.predictions)
    known = shares.count(predictions, params.resamples, params.seed)
    tasks = dict.fromkeys(task for task, _ in params.models)
    maps, examples = (
        dict(zip(tasks, job.input.all(name), strict=True)) for name in ("maps", "examples")
    )
    paths = [maps[task] / f"{model}.parquet" for task, model in params.models]
    parts: dict[str, list[pd.DataFrame]] = {"shares": [], "heads": [], "stripes": []}
    for path, (task, model) in zip(paths, params.models, strict=True):
        # One at a time: together they may be millions of rows.
        own = tables.PATTERN_MAPS.read(path, [*tables.PATTERN_MAPS.key, "pattern", "strict"])
        origin = own[["task", "state", "seed"]].iloc[:1]
        state = origin["state"].item()
        encoder, seed = encoder_of(params.encoder, state), params.seed + 1
        columns = strongest.StrongestColumns.load(examples[task] / model / strongest.FILE)
        for name, rows in {
            "shares": shares.table(own, known, encoder, state, params.resamples, seed),
            "heads": shares.by_head(own),
            "stripes": stripe_tokens(own, columns.idx, columns.tokens, columns.columns),
        }.items():
            parts[name].append(origin.merge(rows, how="cross"))
    found = {name: pd.concat(rows, ignore_index=True) for name, rows in parts.items()}
    names = list(tables.PATTERN_SHARES.names)
    tables.PATTERN_SHARES.write(found["shares"][names], output.patterns)
    tables.PATTERN_HEADS.write(found["heads"], output.pattern_heads)
    tables.STRIPE_TOKENS.write(found["stripes"], output.stripe_tokens)
    heads = tables.PATTERN_HEADS.read(output.pattern_heads)
    agreement = pattern_agreement(heads, params.resamples, params.seed)
    tables.PATTERN_AGREEMENT.write(agreement, output.pattern_agreement)
    tables.PATTERN_MAPS.gather(paths, output.pattern_maps)
