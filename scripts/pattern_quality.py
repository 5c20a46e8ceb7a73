"""Draw the quality of the classifier of patterns (section 4.1)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the tables, draw, write every format."""
    import pandas as pd

    from darksecrets.figures.pattern_quality import pattern_quality
    from darksecrets.figures.style import save

    predictions, scores = map(pd.read_csv, (snakemake.input.table, snakemake.input.scores))
    label = snakemake.params.label
    save(
        pattern_quality(predictions, scores, label),
        [Path(path) for path in snakemake.output],
        script="scripts/pattern_quality.py",
        description=f"pattern_quality, {label}",
    )


if __name__ == "__main__":
    with job(snakemake):
        main()
