"""Draw how important heads are, and what removing them costs."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.importance import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        importance_agreement=shown.draw_importance_agreement,
        pruning_curves=shown.draw_pruning_curves,
        learned_gates=shown.draw_learned_gates,
    )
