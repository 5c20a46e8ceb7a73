"""Draw the quality of the classification of patterns."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.core.plotting.drawing import draw_figures
    from darksecrets.paper.patterns.figures import pattern_quality

    draw_figures(job, pattern_quality=pattern_quality.draw)
