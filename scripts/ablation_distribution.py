"""Draw the figure of ablation_distribution (section 4.6)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    from _figure import draw

    from darksecrets.ablation.ablation_distribution import ablation_distribution

    draw(snakemake, ablation_distribution)


if __name__ == "__main__":
    with job(snakemake):
        main()
