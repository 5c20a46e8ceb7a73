"""Draw the attention between related tokens from its table (section 4.5)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    from _figure import draw

    from darksecrets.figures.token_pairs import token_pairs

    draw(snakemake, token_pairs)


if __name__ == "__main__":
    with job(snakemake):
        main()
