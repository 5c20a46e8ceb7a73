"""Draw the learning curves of all fine-tunings (section 4.3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    import pandas as pd

    from darksecrets.figures.learning_curves import learning_curves
    from darksecrets.figures.style import save

    figure = learning_curves(
        pd.read_csv(snakemake.input.table), snakemake.params.tasks, snakemake.params.label
    )
    save(
        figure,
        [Path(snakemake.output[suffix]) for suffix in ("pdf", "svg", "png")],
        script="scripts/learning_curves.py",
        description=f"Learning curves, {snakemake.params.label}",
    )


if __name__ == "__main__":
    with job(snakemake):
        main()
