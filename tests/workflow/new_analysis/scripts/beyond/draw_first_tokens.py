"""Draw how much heads attend to the first token."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.first_tokens import shown

    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(job, first_token_heads=shown.draw_first_token_heads)
