"""Stack the tables of single jobs into one table of the run."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Gather the inputs that are parts of the output's table, in their order."""
    from darksecrets.contracts import TABLES

    target = Path(snakemake.output.table)
    table = TABLES[target.stem]
    table.gather([Path(path) for path in snakemake.input if path.endswith(table.suffix)], target)


if __name__ == "__main__":
    with job(snakemake):
        main()
