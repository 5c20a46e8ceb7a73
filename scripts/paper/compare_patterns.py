"""Count the patterns of all maps, and compare them between models (section 4.1, Figure 2)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the patterns of all maps, shares, those of every head, and agreement."""
    import pandas as pd

    from darksecrets.paper.patterns import tables
    from darksecrets.paper.patterns.classes import DEFINITIONS
    from darksecrets.paper.patterns.shares import estimates, heads

    params, output = job.params, job.output
    predictions = tables.PATTERN_PREDICTIONS.read(job.input.predictions)
    confusions = {
        pretrained: {
            name: estimates.count_confusions(predictions, name, pretrained=pretrained)
            for name in DEFINITIONS
        }
        for pretrained in (True, False)
    }
    tasks = dict.fromkeys(task for task, _ in params.models)
    maps = dict(zip(tasks, job.input.all("maps"), strict=True))
    paths = [maps[task] / f"{model}.parquet" for task, model in params.models]
    of_models: list[pd.DataFrame] = []
    of_heads: list[pd.DataFrame] = []
    for path in paths:
        # One at a time: together they may be millions of rows.
        own = tables.PATTERN_MAPS.read(path, [*tables.PATTERN_MAPS.key, "pattern", "lenient"])
        origin = own[["task", "state", "seed"]].iloc[:1]
        known = confusions[estimates.is_pretrained(origin["state"].item())]
        counted = estimates.table(own, known, params.resamples, params.seed)
        of_models.append(origin.merge(counted, how="cross"))
        of_heads.append(origin.merge(heads.shares_by_head(own), how="cross"))
    patterns = pd.concat(of_models, ignore_index=True)[list(tables.PATTERN_SHARES.names)]
    tables.PATTERN_SHARES.write(patterns, output.patterns)
    by_head = pd.concat(of_heads, ignore_index=True)
    tables.PATTERN_HEADS.write(by_head, output.pattern_heads)
    agreement = heads.pattern_agreement(by_head, params.resamples, params.seed)
    tables.PATTERN_AGREEMENT.write(agreement, output.pattern_agreement)
    tables.PATTERN_MAPS.gather(paths, output.pattern_maps)
