"""Draw what disabling heads and layers costs."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.core.plotting.drawing import draw_figures
    from darksecrets.paper.ablation.figures import ablation_gains, figure8, figure9, task_agreement

    draw_figures(
        job,
        figure8=figure8.draw,
        figure9=figure9.draw,
        ablation_gains=ablation_gains.draw,
        task_agreement=task_agreement.draw,
    )
