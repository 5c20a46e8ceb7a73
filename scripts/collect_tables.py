"""Concatenate the tables of single jobs into one table of the run."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Concatenate the input tables in the order of the rule's inputs."""
    from darksecrets.contracts import TABLES
    from darksecrets.finetuning.tables import scored_by

    target, metrics = job.output.table, job.params.get("metrics")
    keep = scored_by(metrics) if metrics else None
    TABLES[target.stem].gather(job.input.all("tables"), target, keep)
