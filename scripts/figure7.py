"""Draw Figure 7 from the table of [CLS]'s attention in the last layer (section 4.5)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    from _figure import draw

    from darksecrets.features.figure7 import figure7

    draw(snakemake, figure7)


if __name__ == "__main__":
    with job(snakemake):
        main()
