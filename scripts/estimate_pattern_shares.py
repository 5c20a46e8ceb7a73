"""Count the patterns of every model and task, and correct for confusions (Figure 2)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the shares over all heads, and those of every head."""
    import pandas as pd

    from darksecrets.patterns import shares
    from darksecrets.patterns.annotations import encoder_of
    from darksecrets.patterns.tables import (
        PATTERN_HEADS,
        PATTERN_MAPS,
        PATTERN_PREDICTIONS,
        PATTERN_SHARES,
    )

    params = job.params
    predictions = PATTERN_PREDICTIONS.read(job.input.predictions)
    known = shares.count(predictions, params.resamples, params.seed)
    overall, heads = [], []
    for path in job.input.all("maps"):  # one at a time: together they may be millions of rows
        maps = PATTERN_MAPS.read(path, [*PATTERN_MAPS.key, "pattern", "strict"])
        origin = maps[["task", "state", "seed"]].iloc[:1]
        state = origin["state"].item()
        table = shares.table(
            maps,
            known,
            encoder_of(params.model, state),
            state,
            params.resamples,
            params.seed + 1,
        )
        overall.append(origin.merge(table, how="cross"))
        heads.append(origin.merge(shares.by_head(maps), how="cross"))
    columns = list(PATTERN_SHARES.names)
    PATTERN_SHARES.write(pd.concat(overall, ignore_index=True)[columns], job.output.shares)
    PATTERN_HEADS.write(pd.concat(heads, ignore_index=True), job.output.heads)
