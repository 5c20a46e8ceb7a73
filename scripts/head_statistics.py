"""Draw what the heads of every layer look at from its table (section 4.4)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    from _figure import draw

    from darksecrets.features.head_statistics import head_statistics

    draw(snakemake, head_statistics)


if __name__ == "__main__":
    with job(snakemake):
        main()
