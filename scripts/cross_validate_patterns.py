"""Cross-validate the classifier of patterns on the labelled maps (section 4.1)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write what every classifier says of every labelled map, and the scores."""
    import torch

    from darksecrets.patterns import annotations, crossvalidation, quality
    from darksecrets.patterns.cnn import Training
    from darksecrets.patterns.tables import PATTERN_CV, PATTERN_PREDICTIONS

    torch.set_num_threads(snakemake.threads)
    settings = snakemake.params.patterns
    predictions = crossvalidation.cross_validate(
        annotations.load(annotations.folders(settings["annotations"])),
        settings["folds"],
        Training(settings["epochs"], settings["seed"]),
    )
    scores = quality.scores(predictions, settings["resamples"], settings["seed"])
    PATTERN_PREDICTIONS.write(predictions, Path(snakemake.output.predictions))
    PATTERN_CV.write(scores, Path(snakemake.output.scores))


if __name__ == "__main__":
    with job(snakemake):
        main()
