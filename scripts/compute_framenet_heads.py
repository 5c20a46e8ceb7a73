"""Measure how much each head attends along frame-semantic links (section 4.2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the weight of every head, its control and its tests; and the maps of Figure 3."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.framenet.example import choose
    from darksecrets.framenet.heads import measure, table
    from darksecrets.framenet.links import read_table
    from darksecrets.framenet.tables import HEADS

    store = AttentionStore.open(Path(snakemake.input.store))
    annotations = read_table(Path(snakemake.input.links))
    weights = measure(store, annotations, snakemake.params.draws, snakemake.params.seed)
    HEADS.write(table(weights), Path(snakemake.output.table))
    choose(store, annotations, weights).save(Path(snakemake.output.example))


if __name__ == "__main__":
    with job(snakemake):
        main()
