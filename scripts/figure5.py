"""Draw Figure 5 from the table of similarities (section 4.3)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    from _figure import draw

    from darksecrets.finetuning.figure5 import figure5

    draw(snakemake, figure5)


if __name__ == "__main__":
    with job(snakemake):
        main()
