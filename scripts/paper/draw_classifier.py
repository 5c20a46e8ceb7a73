"""Draw typical maps and the quality of their classification."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.core.plotting.drawing import draw_figures
    from darksecrets.paper.patterns.figures import figure1, pattern_quality

    draw_figures(
        job,
        figure1=figure1.draw,
        pattern_quality=pattern_quality.draw,
    )
