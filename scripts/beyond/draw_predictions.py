"""Draw what an encoder predicts."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.predictions import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        minimal_pairs=shown.draw_minimal_pairs,
        cloze=shown.draw_cloze,
        trees=shown.draw_trees,
        agreement_heads=shown.draw_agreement_heads,
    )
