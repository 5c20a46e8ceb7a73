"""Disable every head, every layer and every set of one's own, and keep the predictions (4.6)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Sweep over the validation set, going on where a killed job stopped; return how."""
    from darksecrets.ablation.sweep import Settings, sweep_heads
    from darksecrets.data.tasks import TASKS

    params = snakemake.params
    return sweep_heads(
        Path(snakemake.input.model),
        Path(snakemake.input.dataset),
        Path(snakemake.output.sweep),
        task=TASKS[snakemake.wildcards.task],
        seed=int(snakemake.wildcards.seed),
        max_length=params.max_length,
        settings=Settings(mode=params.mode, sets=params.sets, screening=params.screening),
        threads=snakemake.threads,
        parts=[Path(part) for part in snakemake.input.parts],
    )


if __name__ == "__main__":
    with job(snakemake) as details:
        details["sweep"] = main()
