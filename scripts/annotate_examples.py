"""Tag and parse the sampled sentences of a task (sections 4.4 and 4.5)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the annotation: gold, or a spaCy pipeline's."""
    from darksecrets.features.annotation import annotate
    from darksecrets.tasks import TASKS

    annotate(
        Path(snakemake.input.dataset),
        Path(snakemake.input.sample),
        Path(snakemake.output.annotation),
        TASKS[snakemake.wildcards.task],
        snakemake.params.pipeline,
    )


if __name__ == "__main__":
    with job(snakemake):
        main()
