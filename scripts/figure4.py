"""Draw Figure 4 from the table of frame-semantic links (section 4.2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the links, draw one sentence, write every format."""
    from _figure import write

    from darksecrets.framenet.figure4 import figure4
    from darksecrets.framenet.links import read_table

    links = read_table(Path(snakemake.input.table))
    write(snakemake, figure4(links, snakemake.params.label))


if __name__ == "__main__":
    with job(snakemake):
        main()
