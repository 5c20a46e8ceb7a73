"""Build Snakemake's self-contained report of a finished run."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Call Snakemake on the run's own configuration, under the lock of the calling Snakemake."""
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    from darksecrets.core.run.files import atomic, write_json
    from darksecrets.pages.report.opening import answers

    with atomic(job.output.page) as page, tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder) / "answers.json"
        # Without any number, Snakemake's report does not begin with its text.
        tasks = {"tasks": job.params.tasks}
        known = tasks if job.params.synthetic else answers(job.input.claims)
        write_json(known, numbers)
        command = [
            *(sys.executable, "-m", "workflow.lib.report", "--nolock", "--profile", "none"),
            *("--snakefile", job.params.snakefile),
            *("--configfile", job.params.config),
            *("--report", str(page)),
            *("--report-metadata", str(numbers), "--report-stylesheet", job.params.style),
        ]
        subprocess.run(command, check=True)
