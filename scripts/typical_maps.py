"""Choose a typical map of every pattern among the labelled ones (Figure 1)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write a table of the chosen maps, and their arrays beside it."""
    from darksecrets.patterns import annotations, typical
    from darksecrets.patterns.quality import of_network
    from darksecrets.patterns.tables import PATTERN_PREDICTIONS, TYPICAL_MAPS

    data = annotations.load(annotations.folders(snakemake.params.annotations))
    predictions = of_network(PATTERN_PREDICTIONS.read(Path(snakemake.input.predictions)))
    chosen = typical.choose(data, predictions)
    TYPICAL_MAPS.write(chosen, Path(snakemake.output.table))
    typical.save(chosen, data, Path(snakemake.output.maps))


if __name__ == "__main__":
    with job(snakemake):
        main()
