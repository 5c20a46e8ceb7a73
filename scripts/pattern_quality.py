"""Draw the quality of the classifier of patterns (section 4.1)."""

from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the tables, draw, write every format."""
    from pathlib import Path

    from _figure import write

    from darksecrets.patterns.pattern_quality import pattern_quality
    from darksecrets.patterns.tables import PATTERN_CV, PATTERN_PREDICTIONS

    predictions = PATTERN_PREDICTIONS.read(Path(snakemake.input.table))
    scores = PATTERN_CV.read(Path(snakemake.input.scores))
    write(snakemake, pattern_quality(predictions, scores, snakemake.params.label))


if __name__ == "__main__":
    with job(snakemake):
        main()
