"""Draw the figure ablation_gains (section 4.6)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read both tables, draw, write every format."""
    from functools import partial

    import pandas as pd
    from _figure import draw

    from darksecrets.ablation.ablation_gains import ablation_gains

    draw(snakemake, partial(ablation_gains, best=pd.read_csv(snakemake.input.best)))


if __name__ == "__main__":
    with job(snakemake):
        main()
