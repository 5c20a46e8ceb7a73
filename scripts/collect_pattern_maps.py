"""Gather the patterns of all maps of the run (section 4.1)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Join the compressed tables without loading them."""
    from darksecrets.run.tables import join_compressed

    join_compressed(job.input.all("maps"), job.output.table)
