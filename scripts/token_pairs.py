"""Draw the attention between related tokens from its tables (section 4.5)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read both tables, draw, write every format."""
    from functools import partial
    from pathlib import Path

    from _figure import draw

    from darksecrets.features.tables import TOKEN_PAIR_CORRELATIONS
    from darksecrets.features.token_pairs import token_pairs

    correlations = TOKEN_PAIR_CORRELATIONS.read(Path(snakemake.input.correlations))
    draw(snakemake, partial(token_pairs, correlations=correlations))


if __name__ == "__main__":
    with job(snakemake):
        main()
