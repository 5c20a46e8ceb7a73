"""Correlate attention to related tokens with the heads' diagonal scores (section 4.5)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table of all heads, write the correlations of every model."""
    from darksecrets.features.diagonal import diagonal_correlations
    from darksecrets.features.tables import TOKEN_PAIR_CORRELATIONS, TOKEN_PAIRS

    pairs = TOKEN_PAIRS.read(Path(snakemake.input.pairs))
    TOKEN_PAIR_CORRELATIONS.write(diagonal_correlations(pairs), Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
