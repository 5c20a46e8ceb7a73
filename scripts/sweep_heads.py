"""Gather the chunks of a sweep over heads and layers (section 4.6)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Gather the chunks of a sweep; return how they were computed."""
    from darksecrets.ablation.sweep import Settings, gather_sweep
    from darksecrets.data.tasks import TASKS

    params, wildcards = snakemake.params, snakemake.wildcards
    details: dict[str, Any] = gather_sweep(
        Path(snakemake.input.model),
        Path(snakemake.input.dataset),
        [Path(part) for part in snakemake.input.parts],
        Path(snakemake.output.sweep),
        Settings(
            task=TASKS[wildcards.task],
            seed=int(wildcards.seed),
            max_length=params.max_length,
            mode=params.mode,
            sets=params.sets,
            screening=params.screening,
        ),
        threads=snakemake.threads,
    )
    return details


if __name__ == "__main__":
    with job(snakemake) as details:
        details["sweep"] = main()
