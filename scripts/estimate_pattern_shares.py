"""Count the patterns of every model and task, and correct for confusions (Figure 2)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the shares over all heads, and those of every head."""
    import pandas as pd

    from darksecrets.patterns import shares
    from darksecrets.patterns.quality import of_network
    from darksecrets.run.files import write_table

    predictions = of_network(pd.read_csv(job.input.predictions, dtype={"model": str}))
    settings, model = job.params.patterns, job.params.model
    overall, heads = [], []
    for path in job.input.all("maps"):  # one at a time: together they may be millions of rows
        maps = pd.read_csv(path)
        origin = maps[["task", "state", "seed"]].iloc[:1]
        table = shares.table(maps, predictions, model, settings["resamples"], settings["seed"])
        overall.append(origin.merge(table, how="cross"))
        heads.append(origin.merge(shares.by_head(maps), how="cross"))
    write_table(pd.concat(overall, ignore_index=True), job.output.shares)
    write_table(pd.concat(heads, ignore_index=True), job.output.heads)
