"""Build Snakemake's self-contained report of a finished run."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Call Snakemake on the run's own configuration, under the lock of the calling Snakemake."""
    import subprocess
    import sys

    from darksecrets.run.files import atomic

    with atomic(job.output.page) as page:
        command = [
            *(sys.executable, "-m", "snakemake", "--nolock", "--profile", "none"),
            *("--snakefile", job.params.snakefile),
            *("--configfile", job.params.config),
            *("--report", str(page)),
        ]
        subprocess.run(command, check=True)
