"""Stack the tables of single jobs into one table of the run."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Read every table, in the order of the rule's inputs, and write one."""
    from darksecrets.run.files import write_table
    from darksecrets.run.tables import concatenate

    write_table(concatenate(job.input.all("tables")), job.output.table)
