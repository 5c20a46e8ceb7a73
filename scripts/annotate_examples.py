"""Tag and parse the sampled sentences of a task (sections 4.4 and 4.5)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main(details: dict[str, Any]) -> None:
    """Write the annotation: gold, or a spaCy pipeline's; the provenance names the pipeline."""
    from darksecrets.data.tasks import TASKS
    from darksecrets.features.annotation import annotate

    details["pipeline"] = annotate(
        Path(snakemake.input.dataset),
        Path(snakemake.input.sample),
        Path(snakemake.output.annotation),
        TASKS[snakemake.wildcards.task],
        snakemake.params.pipeline,
    )


if __name__ == "__main__":
    with job(snakemake) as details:
        main(details)
