"""Draw Figure 6 from the table of stripes (section 4.4)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    from _figure import draw

    from darksecrets.features.figure6 import figure6

    draw(snakemake, figure6)


if __name__ == "__main__":
    with job(snakemake):
        main()
