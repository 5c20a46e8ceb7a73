"""Correlate attention to related tokens with the heads' diagonal scores (section 4.5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Read the table of all heads, write the correlations of every model."""
    import pandas as pd

    from darksecrets.features.diagonal import diagonal_correlations
    from darksecrets.run.files import write_table

    write_table(diagonal_correlations(pd.read_csv(job.input.pairs)), job.output.table)
