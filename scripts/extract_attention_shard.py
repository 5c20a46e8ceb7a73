"""Extract the attention maps of a part of the sampled examples (section 3)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Run one model over one shard of the sample of one task and write its store; return how."""
    from darksecrets.attention.extraction import extract, read_sample

    return extract(
        snakemake.input.model,
        read_sample(Path(snakemake.input.dataset), Path(snakemake.input.sample)),
        snakemake.output.store,
        max_length=snakemake.params.max_length,
        batch_size=snakemake.params.batch_size,
        chunk=int(snakemake.wildcards.piece),
        chunks=int(snakemake.wildcards.pieces),
    )


if __name__ == "__main__":
    with job(snakemake) as details:
        details["extraction"] = main()
