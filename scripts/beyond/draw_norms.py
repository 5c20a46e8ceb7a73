"""Draw weights beside norms."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.norms import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        weights_and_norms=shown.draw_weights_and_norms,
    )
