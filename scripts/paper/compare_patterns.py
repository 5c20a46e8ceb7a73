"""Count the patterns of all maps, and compare them between models (section 4.1, Figure 2)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the patterns of all maps, shares, those of every head, and agreement."""
    import pandas as pd

    from darksecrets.core.models.identity import identify_encoder
    from darksecrets.paper.patterns import labelled_maps, shares, tables
    from darksecrets.paper.patterns.classes import TRAINED
    from darksecrets.paper.patterns.classifier_agreement import compare_classifiers
    from darksecrets.paper.patterns.head_agreement import pattern_agreement

    params, output = job.params, job.output
    resamples, seed = params.resamples, params.seed
    predictions = tables.PATTERN_PREDICTIONS.read(job.input.predictions)
    sources = labelled_maps.folders(params.annotations)
    model = labelled_maps.find_model(sources, identify_encoder(job.input.model))
    known = {name: shares.count(name, predictions, resamples, seed) for name in TRAINED}
    tasks = dict.fromkeys(task for task, _ in params.models)
    maps = dict(zip(tasks, job.input.all("maps"), strict=True))
    paths = [maps[task] / f"{model}.parquet" for task, model in params.models]
    of_models: list[pd.DataFrame] = []
    of_heads: dict[str, list[pd.DataFrame]] = {name: [] for name in TRAINED}
    of_classifiers: list[pd.DataFrame] = []
    for path in paths:
        # One at a time: together they may be millions of rows.
        own = tables.PATTERN_MAPS.read(path, [*tables.PATTERN_MAPS.key, "pattern", "lenient"])
        origin = own[["task", "state", "seed"]].iloc[:1]
        state = origin["state"].item()
        encoder = labelled_maps.encoder_of(model, state) if model else None
        for name in TRAINED:
            classified = own[own["classifier"] == name]
            counted = shares.table(classified, known[name], encoder, state, resamples, seed + 1)
            of_models.append(origin.assign(classifier=name).merge(counted, how="cross"))
            of_heads[name].append(origin.merge(shares.shares_by_head(classified), how="cross"))
        agreed = compare_classifiers(own, resamples, seed + 2)
        of_classifiers.append(origin.merge(agreed, how="cross"))
    patterns = pd.concat(of_models, ignore_index=True)[list(tables.PATTERN_SHARES.names)]
    tables.PATTERN_SHARES.write(patterns, output.patterns)
    heads = {name: pd.concat(parts, ignore_index=True) for name, parts in of_heads.items()}
    tables.PATTERN_HEADS.write(heads[params.classifier], output.pattern_heads)
    repeated = [
        pattern_agreement(heads[name], resamples, seed).assign(classifier=name) for name in TRAINED
    ]
    table = pd.concat(repeated, ignore_index=True)[list(tables.PATTERN_AGREEMENT.names)]
    tables.PATTERN_AGREEMENT.write(table, output.pattern_agreement)
    compared = pd.concat(of_classifiers, ignore_index=True)
    tables.CLASSIFIER_AGREEMENT.write(compared, output.classifier_agreement)
    tables.PATTERN_MAPS.gather(paths, output.pattern_maps)
