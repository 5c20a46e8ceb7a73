"""Draw Figure 8 (section 4.6)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    from _figure import draw

    from darksecrets.ablation.figure8 import figure8

    draw(snakemake, figure8)


if __name__ == "__main__":
    with job(snakemake):
        main()
