"""Download FrameNet 1.7 with NLTK (section 4.2)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Fill an NLTK data folder."""
    from darksecrets.framenet.folder import download

    download(Path(snakemake.output.folder))


if __name__ == "__main__":
    with job(snakemake):
        main()
