"""Draw what compressed models retain."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.compression import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        compression=shown.draw_compression,
        compression_times=shown.draw_compression_times,
    )
