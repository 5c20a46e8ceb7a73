"""Draw how far attention explains decisions."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.faithfulness import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        attention_gradients=shown.draw_attention_gradients,
        faithfulness=shown.draw_faithfulness,
    )
