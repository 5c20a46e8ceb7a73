"""Build Snakemake's self-contained report of a finished run."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

from darksecrets.run.files import atomic

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Call Snakemake on the run's own configuration, under the lock of the one that calls this."""
    with atomic(Path(snakemake.output.page)) as page:
        command = [
            *(sys.executable, "-m", "snakemake", "--nolock", "--profile", "none"),
            *("--snakefile", snakemake.params.snakefile),
            *("--configfile", snakemake.params.config),
            *("--report", str(page)),
        ]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    with job(snakemake):
        main()
