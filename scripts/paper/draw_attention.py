"""Draw what heads attend to, and what fine-tuning changes."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.core.plotting.drawing import draw_figures
    from darksecrets.paper.features.figures import (
        figure6,
        figure7,
        figure7_controls,
        head_statistics,
        stripes_index,
        token_pairs,
    )
    from darksecrets.paper.finetuning.figures import figure5, figure5_layers

    draw_figures(
        job,
        figure5=figure5.draw,
        figure5_layers=figure5_layers.draw,
        figure6=figure6.draw,
        head_statistics=head_statistics.draw,
        stripes_index=stripes_index.draw,
        figure7=figure7.draw,
        figure7_controls=figure7_controls.draw,
        token_pairs=token_pairs.draw,
    )
