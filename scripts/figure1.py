"""Draw Figure 1 from a few maps and their table (section 4.1)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read table and maps, draw, write every format."""
    from _figure import write

    from darksecrets.patterns import typical
    from darksecrets.patterns.figure1 import figure1
    from darksecrets.patterns.tables import TYPICAL_MAPS

    table = TYPICAL_MAPS.read(Path(snakemake.input.table))
    maps = typical.read(table, Path(snakemake.input.maps))
    write(snakemake, figure1(table, maps, snakemake.params.label))


if __name__ == "__main__":
    with job(snakemake):
        main()
