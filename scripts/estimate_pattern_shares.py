"""Count the patterns of one model on one task, and correct for confusions (Figure 2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the shares over all heads, and those of every head."""
    import pandas as pd

    from darksecrets.files import write_table
    from darksecrets.patterns import shares
    from darksecrets.patterns.quality import of_network
    from darksecrets.tables import identify

    maps = pd.read_csv(snakemake.input.maps)
    predictions = of_network(pd.read_csv(snakemake.input.predictions))
    settings, wildcards = snakemake.params.patterns, snakemake.wildcards
    overall = shares.table(maps, predictions, settings["resamples"], settings["seed"])
    for table, path in (
        (overall, snakemake.output.shares),
        (shares.by_head(maps), snakemake.output.heads),
    ):
        write_table(identify(table, wildcards.task, wildcards.model), Path(path))


if __name__ == "__main__":
    with job(snakemake):
        main()
