"""Give every attention map of one model on one task its pattern (section 4.1)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the pattern of every map, compressed: they are many."""
    import torch

    from darksecrets.files import compressed
    from darksecrets.patterns import cnn
    from darksecrets.patterns.classification import classify
    from darksecrets.store import AttentionStore
    from darksecrets.tables import identify

    torch.set_num_threads(snakemake.threads)
    net, temperature = cnn.load(Path(snakemake.input.classifier))
    table = classify(AttentionStore.open(Path(snakemake.input.store)), net, temperature)
    table = identify(table, snakemake.wildcards.task, snakemake.wildcards.model)
    with compressed(Path(snakemake.output.maps)) as stream:
        table.to_csv(stream, index=False, float_format="%.4f")


if __name__ == "__main__":
    with job(snakemake):
        main()
