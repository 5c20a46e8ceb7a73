"""Draw the learning curves behind Table 1 (section 4.3)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table, draw, write every format."""
    from _figure import draw

    from darksecrets.finetuning.learning_curves import learning_curves

    draw(snakemake, learning_curves)


if __name__ == "__main__":
    with job(snakemake):
        main()
