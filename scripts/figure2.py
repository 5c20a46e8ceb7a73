"""Draw Figure 2 from the table of shares (section 4.1)."""

from functools import partial
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the tables, add published shares if the run is the paper's, draw, write every format."""
    import pandas as pd
    from _figure import draw

    from darksecrets.patterns.figure2 import figure2

    published = pd.read_csv(snakemake.input.published) if snakemake.params.paper else None
    draw(snakemake, partial(figure2, published=published))


if __name__ == "__main__":
    with job(snakemake):
        main()
