"""Bring one task into the project's columns, from any source, and check every row (section 3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the data set, and beside it what the checks counted."""
    from darksecrets.data.prepare import prepare
    from darksecrets.data.tasks import TASKS

    task = TASKS[snakemake.wildcards.task]
    prepare(task, snakemake.params.source, Path(snakemake.output.dataset))


if __name__ == "__main__":
    with job(snakemake):
        main()
