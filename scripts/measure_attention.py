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
    from darksecrets.features.tables import MEASURES
    from darksecrets.features.tokens import describe
    from darksecrets.run.tables import identify

    store = AttentionStore.open(Path(snakemake.input.store))
    tokens = describe(store, Path(snakemake.input.annotation))
    measured = asdict(measure(store, tokens, snakemake.params.seed))
    for table in MEASURES:
        rows = identify(measured[table.name], snakemake.wildcards.task, snakemake.wildcards.model)
        table.write(rows, Path(snakemake.output[table.name]))


if __name__ == "__main__":
    with job(snakemake):
        main()
