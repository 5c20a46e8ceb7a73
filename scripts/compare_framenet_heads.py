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
    from darksecrets.run.files import write_table

    ours, published = (pd.read_csv(snakemake.input[name]) for name in ("heads", "published"))
    write_table(compare(ours, published), Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
