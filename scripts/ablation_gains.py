"""Draw the figure ablation_gains (section 4.6)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read both tables, draw, write every format."""
    from functools import partial
    from pathlib import Path

    from _figure import draw

    from darksecrets.ablation.ablation_gains import ablation_gains
    from darksecrets.ablation.tables import BEST_HEAD

    best = BEST_HEAD.read(Path(snakemake.input.best))
    draw(snakemake, partial(ablation_gains, best=best))


if __name__ == "__main__":
    with job(snakemake):
        main()
