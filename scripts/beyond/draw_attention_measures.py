"""Draw attention by several measures."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.attention_measures import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        stripes_by_measure=shown.draw_stripes_by_measure,
    )
