"""Extract the attention maps of the sampled examples (section 3)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Run one model over the sample of one task, or gather its shards; write the store."""
    sample, store = Path(snakemake.input.sample), Path(snakemake.output.store)
    if snakemake.input.shards:
        from darksecrets.attention.chunks import merge

        merge([Path(shard) for shard in snakemake.input.shards], sample, store)
        return {"shards": len(snakemake.input.shards)}

    from darksecrets.attention.extraction import extract, read_sample

    return extract(
        snakemake.input.model,
        read_sample(Path(snakemake.input.dataset), sample),
        store,
        max_length=snakemake.params.max_length,
        batch_size=snakemake.params.batch_size,
    )


if __name__ == "__main__":
    with job(snakemake) as details:
        details["extraction"] = main()
