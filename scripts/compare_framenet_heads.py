"""Correlate the weights of the heads with the published ones (section 4.2)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Read both tables, write the correlations."""
    import pandas as pd

    from darksecrets.framenet.heads import compare
    from darksecrets.run.files import write_table

    ours, published = pd.read_csv(job.input.heads), pd.read_csv(job.input.published)
    write_table(compare(ours, published), job.output.table)
