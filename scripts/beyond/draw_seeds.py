"""Draw how much scores depend on seeds."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.seeds import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        seed_variance=shown.draw_seed_variance,
    )
