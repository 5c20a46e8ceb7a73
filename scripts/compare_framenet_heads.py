"""Correlate the weights of the heads with the published ones (section 4.2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read both tables, write the correlations."""
    import pandas as pd

    from darksecrets.framenet.heads import compare
    from darksecrets.framenet.tables import CORRELATION, HEADS

    ours = HEADS.read(Path(snakemake.input.heads))
    published = pd.read_csv(snakemake.input.published)
    CORRELATION.write(compare(ours, published), Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
