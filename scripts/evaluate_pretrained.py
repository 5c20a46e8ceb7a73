"""Score the pre-trained weights with a classifier that was never trained (Table 1)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> dict[str, Any]:
    """Write scores and predictions; return which parameters were drawn."""
    from darksecrets.data.tasks import TASKS
    from darksecrets.finetuning.evaluation import evaluate_pretrained

    return evaluate_pretrained(
        Path(snakemake.input.model),
        Path(snakemake.input.dataset),
        task=TASKS[snakemake.wildcards.task],
        seed=int(snakemake.wildcards.seed),
        max_length=snakemake.params.max_length,
        threads=snakemake.threads,
        scores=Path(snakemake.output.scores),
        predictions=Path(snakemake.output.predictions),
    )


if __name__ == "__main__":
    with job(snakemake) as details:
        details["evaluation"] = main()
