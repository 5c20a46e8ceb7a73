"""Draw one feature's stripes from the table of stripes (section 4.4)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    import pandas as pd

    from darksecrets.figures.stripes import stripes
    from darksecrets.figures.style import save

    params, feature = snakemake.params, snakemake.wildcards.feature
    save(
        stripes(pd.read_csv(snakemake.input.table), feature, params.tasks, params.label),
        [Path(path) for path in snakemake.output],
        script="scripts/stripes.py",
        description=f"stripes of {feature}, {params.label}",
    )


if __name__ == "__main__":
    with job(snakemake):
        main()
