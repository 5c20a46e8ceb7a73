"""Draw Figure 5 from the table of similarities (section 4.3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    import pandas as pd

    from darksecrets.figures.figure5 import figure5
    from darksecrets.figures.style import save

    figure = figure5(
        pd.read_csv(snakemake.input.table), snakemake.params.tasks, snakemake.params.label
    )
    save(
        figure,
        [Path(snakemake.output[suffix]) for suffix in ("pdf", "svg", "png")],
        script="scripts/figure5.py",
        description=f"Figure 5, {snakemake.params.label}",
    )


if __name__ == "__main__":
    with job(snakemake):
        main()
