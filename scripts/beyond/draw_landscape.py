"""Draw the loss around fine-tuned models."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.landscape import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        reset_layers=shown.draw_reset_layers,
        flatness=shown.draw_flatness,
        loss_surfaces=shown.draw_loss_surfaces,
    )
