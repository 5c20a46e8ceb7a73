"""Stack the tables of single jobs into one table of the run."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read every table among the inputs, in their order, and write one."""
    from darksecrets.run.files import write_table
    from darksecrets.run.tables import concatenate

    tables = [Path(path) for path in snakemake.input if str(path).endswith(".csv")]
    write_table(concatenate(tables), Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
