"""Draw how alike heads attend."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.redundancy import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        redundancy=shown.draw_redundancy,
    )
