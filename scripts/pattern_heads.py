"""Draw the commonest pattern of every head (section 4.1)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    from _figure import draw

    from darksecrets.patterns.pattern_heads import pattern_heads

    draw(snakemake, pattern_heads)


if __name__ == "__main__":
    with job(snakemake):
        main()
