"""Draw Table 1 and learning curves."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.core.plotting.drawing import draw_figures
    from darksecrets.paper.finetuning.figures import learning_curves, table1

    draw_figures(
        job,
        table1=table1.draw,
        learning_curves=learning_curves.draw,
    )
