"""Draw Figure 3 from the table of heads and the maps beside it (section 4.2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table and the maps, draw, write every format."""
    from _figure import write

    from darksecrets.framenet.example import Example
    from darksecrets.framenet.figure3 import figure3
    from darksecrets.framenet.tables import HEADS

    example = Example.load(Path(snakemake.input.example))
    table = HEADS.read(Path(snakemake.input.table))
    write(snakemake, figure3(table, example, snakemake.params.label))


if __name__ == "__main__":
    with job(snakemake):
        main()
