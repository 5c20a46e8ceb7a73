"""Build Snakemake's self-contained report of a finished run."""

from pathlib import Path

from _job import Job, script

ANSWERS = {"holds": "claims that hold", "does not hold": "do not hold", "undecided": "undecided"}


@script
def main(job: Job) -> None:
    """Call Snakemake on the run's own configuration, under the lock of the calling Snakemake."""
    import subprocess
    import sys
    import tempfile

    from darksecrets.run.files import atomic, write_json

    with atomic(job.output.page) as page, tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder) / "answers.json"
        write_json(answers(job.input.claims), numbers)
        command = [
            *(sys.executable, "-m", "snakemake", "--nolock", "--profile", "none"),
            *("--snakefile", job.params.snakefile),
            *("--configfile", job.params.config),
            *("--report", str(page)),
            *("--report-metadata", str(numbers), "--report-stylesheet", job.params.style),
        ]
        subprocess.run(command, check=True)


def answers(claims: Path) -> dict[str, int]:
    """How many of the paper's claims hold in the run; the report's first page shows numbers."""
    import csv
    from collections import Counter

    with claims.open(encoding="utf-8", newline="") as table:
        counts = Counter(row["here"] for row in csv.DictReader(table))
    return {name: counts[answer] for answer, name in ANSWERS.items()}
