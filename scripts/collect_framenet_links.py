"""Collect the sentences whose frame-semantic links are studied (section 4.2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the source, select as the paper does, write a row per link."""
    from darksecrets.framenet.links import to_table
    from darksecrets.framenet.sources import collect
    from darksecrets.framenet.tables import LINKS

    downloaded = snakemake.input.get("downloaded")
    source = dict(snakemake.params.items())
    annotations = collect(source, Path(downloaded) if downloaded else None)
    LINKS.write(to_table(annotations), Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
