"""Give every attention map of one model on one task its pattern (section 4.1)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Write the pattern of every map; return where they were found."""
    import torch

    from darksecrets.attention.store import AttentionStore
    from darksecrets.models import devices
    from darksecrets.patterns import cnn
    from darksecrets.patterns.classification import batch_size_for, classify
    from darksecrets.patterns.tables import PATTERN_MAPS
    from darksecrets.run.tables import identify

    torch.set_num_threads(snakemake.threads)
    net, temperature = cnn.load(Path(snakemake.input.classifier))
    store, device = AttentionStore.open(Path(snakemake.input.store)), devices.best()
    batch_size = batch_size_for(store, device)
    table = classify(store, net, temperature, batch_size)
    table = identify(table, snakemake.wildcards.task, snakemake.wildcards.model)
    PATTERN_MAPS.write(table, Path(snakemake.output.maps))
    return {"device": str(device), "batch_size": batch_size}


if __name__ == "__main__":
    with job(snakemake) as details:
        details["classification"] = main()
