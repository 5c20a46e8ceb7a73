"""Pre-train the tiny BERT of the built-in corpus: masked language model, next sentence."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Train from the parameters' configuration; go on where a killed run stopped."""
    from darksecrets.pretraining.tiny_bert import Configuration, pretrain

    pretrain(
        Path(snakemake.output.model),
        checkpoints=Path(snakemake.params.checkpoints),
        configuration=Configuration(**snakemake.params.configuration),
        seed=snakemake.params.seed,
        threads=snakemake.threads,
    )


if __name__ == "__main__":
    with job(snakemake):
        main()
