"""Draw Figure 4 from the table of frame-semantic links (section 4.2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the links, draw one sentence, write every format."""
    from darksecrets.figures.figure4 import figure4
    from darksecrets.figures.style import save
    from darksecrets.framenet.links import read_table

    save(
        figure4(read_table(Path(snakemake.input.table)), snakemake.params.label),
        [Path(path) for path in snakemake.output],
        script="scripts/figure4.py",
        description=f"figure4, {snakemake.params.label}",
    )


if __name__ == "__main__":
    with job(snakemake):
        main()
