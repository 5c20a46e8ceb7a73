"""Draw heads along frame-semantic links."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.core.plotting.drawing import draw_figures
    from darksecrets.paper.framenet.figures import figure3, figure3_controls, figure4

    draw_figures(
        job,
        figure3=figure3.draw,
        figure3_controls=figure3_controls.draw,
        figure4=figure4.draw,
    )
