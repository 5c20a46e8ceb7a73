"""Look up the effects of the heads that the other experiments single out (section 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the effects of these heads beside those of all others."""
    import pandas as pd

    from darksecrets.ablation.links import linked
    from darksecrets.run.files import write_table

    heads, framenet = pd.read_csv(job.input.heads), pd.read_csv(job.input.framenet)
    pairs = [pd.read_csv(path) for path in job.input.all("equal_words")]  # none without pairs
    write_table(linked(heads, framenet, pairs[0] if pairs else None), job.output.table)
