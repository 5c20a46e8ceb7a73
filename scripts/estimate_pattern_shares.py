"""Count the patterns of every model and task, and correct for confusions (Figure 2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the shares over all heads, and those of every head."""
    import pandas as pd

    from darksecrets.patterns import shares
    from darksecrets.patterns.quality import of_network
    from darksecrets.patterns.tables import (
        PATTERN_HEADS,
        PATTERN_MAPS,
        PATTERN_PREDICTIONS,
        PATTERN_SHARES,
    )

    predictions = of_network(PATTERN_PREDICTIONS.read(Path(snakemake.input.predictions)))
    settings, model = snakemake.params.patterns, snakemake.params.model
    overall, heads = [], []
    for path in snakemake.input.maps:  # one at a time: together they may be millions of rows
        maps = PATTERN_MAPS.read(Path(path), [*PATTERN_MAPS.key, "pattern"])
        origin = maps[["task", "state", "seed"]].iloc[:1]
        table = shares.table(maps, predictions, model, settings["resamples"], settings["seed"])
        overall.append(origin.merge(table, how="cross"))
        heads.append(origin.merge(shares.by_head(maps), how="cross"))
    PATTERN_SHARES.write(pd.concat(overall, ignore_index=True), Path(snakemake.output.shares))
    PATTERN_HEADS.write(pd.concat(heads, ignore_index=True), Path(snakemake.output.heads))


if __name__ == "__main__":
    with job(snakemake):
        main()
