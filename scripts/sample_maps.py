"""Draw the maps to label from the attention stores of a run (section 4.1)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write a set of maps."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.patterns.sampling import sample_maps

    params = snakemake.params
    origins = [(task, "finetuned", params.model_seed) for task in params.tasks]
    folders = [Path(folder) for folder in snakemake.input.stores]
    stores = {
        origin: AttentionStore.open(folder) for origin, folder in zip(origins, folders, strict=True)
    }
    drawn = sample_maps(stores, params.size, params.seed, params.model, params.prefix)
    drawn.save(Path(snakemake.output.maps))


if __name__ == "__main__":
    with job(snakemake):
        main()
