"""Fine-tune on one task, from the pre-trained weights or from a normal distribution (section 3)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Train, resuming where a killed job stopped; return what was trained how."""
    from darksecrets.data.tasks import TASKS
    from darksecrets.finetuning.training import Settings, finetune

    output, wildcards = snakemake.output, snakemake.wildcards
    return finetune(
        Path(snakemake.input.model),
        Path(snakemake.input.dataset),
        Path(output.model),
        task=TASKS[wildcards.task],
        state=wildcards.state,
        seed=int(wildcards.seed),
        settings=Settings(**snakemake.params.fine_tuning),
        threads=snakemake.threads,
        scores=Path(output.scores),
        predictions=Path(output.predictions),
        curve=Path(output.curve),
    )


if __name__ == "__main__":
    with job(snakemake) as details:
        details["training"] = main()
