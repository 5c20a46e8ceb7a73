"""Compare how flat the loss is around models that began with pre-trained and random weights."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Gather the numbers of all models; write their means over seeds."""
    import pandas as pd

    from darksecrets.beyond.landscape.declared import FLATNESS, FLATNESS_MEANS
    from darksecrets.beyond.landscape.statistics import means

    flatness = pd.concat(map(FLATNESS.read, job.input.all("flatness")))
    flatness = flatness.sort_values("state", kind="stable", ignore_index=True)
    FLATNESS.write(flatness, job.output.flatness)
    FLATNESS_MEANS.write(means(flatness), job.output.means)
