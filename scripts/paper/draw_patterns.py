"""Draw patterns: a map of each, and their shares."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.core.plotting.drawing import draw_figures
    from darksecrets.paper.patterns.figures import (
        figure1,
        figure2,
        figure2_definitions,
        pattern_heads,
    )

    draw_figures(
        job,
        figure1=figure1.draw,
        figure2=figure2.draw,
        figure2_definitions=figure2_definitions.draw,
        pattern_heads=pattern_heads.draw,
    )
