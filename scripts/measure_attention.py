"""Measure what every head of a model looks at (sections 4.4, 4.5 and 5)."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the tables of one task and model."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.features.measures import measure
    from darksecrets.features.tokens import describe
    from darksecrets.run.files import write_table
    from darksecrets.run.tables import identify

    store = AttentionStore.open(Path(snakemake.input.store))
    tokens = describe(store, Path(snakemake.input.annotation))
    for name, table in asdict(measure(store, tokens, snakemake.params.seed)).items():
        table = identify(table, snakemake.wildcards.task, snakemake.wildcards.model)
        write_table(table, Path(snakemake.output[name]))


if __name__ == "__main__":
    with job(snakemake):
        main()
