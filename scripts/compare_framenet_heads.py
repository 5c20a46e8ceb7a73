"""Correlate the weights of the heads with the published ones (section 4.2)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Read both tables, write the correlations."""
    import pandas as pd

    from darksecrets.framenet.heads import compare
    from darksecrets.framenet.tables import CORRELATION, HEADS

    ours, published = HEADS.read(job.input.heads), pd.read_csv(job.input.published)
    pretrained = ours[ours["state"] == "pretrained"]
    CORRELATION.write(compare(pretrained, published), job.output.table)
