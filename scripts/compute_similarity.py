"""Compare each head's maps before and after fine-tuning (section 4.3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the mean cosine similarity of every layer and head."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.finetuning.cosine import table
    from darksecrets.finetuning.tables import COSINE

    stores = (snakemake.input.pretrained, snakemake.input.finetuned)
    similarity = table(*(AttentionStore.open(Path(store)) for store in stores))
    similarity.insert(0, "task", snakemake.wildcards.task)
    similarity.insert(1, "seed", int(snakemake.wildcards.seed))
    COSINE.write(similarity, Path(snakemake.output.similarity))


if __name__ == "__main__":
    with job(snakemake):
        main()
