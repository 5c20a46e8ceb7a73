"""Gather second opinions of all tasks, and compare models by them (sections 4.4 and 4.5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write every table of heads, and of comparisons of models, for all measures of attention."""
    from pathlib import Path

    import pandas as pd

    from darksecrets.features.tables import TABLES, TOKEN_PAIRS
    from darksecrets.opinions.comparing import compared
    from darksecrets.opinions.tables import OF_HEADS, OF_MODELS, with_weights
    from darksecrets.run.columns import of_weights

    params = job.params
    found = {
        of_weights(table): pd.concat(map(table.read, paths), ignore_index=True)
        for table in OF_HEADS
        if (paths := job.input.all(of_weights(table)))
    }
    folders = dict(zip(params.tasks, job.input.all("examples"), strict=True))
    found |= compared(
        params.measures,
        found[TOKEN_PAIRS.name],
        folders,
        [tuple(names) for names in params.models],
        draws=params.draws,
        resamples=params.resamples,
        seed=params.seed,
    )
    of_weights_alone = {Path(path).stem: path for path in job.input.all("weights")}
    declared = {table.name: table for table in TABLES}
    for table in (*OF_HEADS, *OF_MODELS):
        name = of_weights(table)
        if name in found:
            weights = declared[name].read(of_weights_alone[name])
            table.write(with_weights(weights, found[name]), getattr(job.output, name))
