"""Disable every head, every layer and every set of one's own on a part of the examples (4.6)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Sweep over one part, going on where a killed job stopped; return how."""
    from darksecrets.ablation.sweep import Settings, sweep_chunk
    from darksecrets.data.tasks import TASKS

    params, wildcards = snakemake.params, snakemake.wildcards
    details: dict[str, Any] = sweep_chunk(
        Path(snakemake.input.model),
        Path(snakemake.input.dataset),
        Path(snakemake.output.part),
        Settings(
            task=TASKS[wildcards.task],
            seed=int(wildcards.seed),
            max_length=params.max_length,
            mode=params.mode,
            sets=params.sets,
            screening=params.screening,
        ),
        threads=snakemake.threads,
        chunk=int(wildcards.piece),
        chunks=int(wildcards.pieces),
    )
    return details


if __name__ == "__main__":
    with job(snakemake) as details:
        details["sweep"] = main()
