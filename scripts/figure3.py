"""Draw Figure 3 from the table of heads and the maps beside it (section 4.2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table and the maps, draw, write every format."""
    import pandas as pd

    from darksecrets.figures.figure3 import figure3
    from darksecrets.figures.style import save
    from darksecrets.framenet.example import Example

    example = Example.load(Path(snakemake.input.example))
    save(
        figure3(pd.read_csv(snakemake.input.table), example, snakemake.params.label),
        [Path(path) for path in snakemake.output],
        script="scripts/figure3.py",
        description=f"figure3, {snakemake.params.label}",
    )


if __name__ == "__main__":
    with job(snakemake):
        main()
