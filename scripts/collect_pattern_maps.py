"""Gather the patterns of all maps of the run (section 4.1)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Join the compressed tables without loading them."""
    from darksecrets.run.tables import join_compressed

    join_compressed([Path(path) for path in snakemake.input.maps], Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
