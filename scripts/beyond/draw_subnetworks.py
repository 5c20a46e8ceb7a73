"""Draw subnetworks and their scores."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.subnetworks import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        surviving_parts=shown.draw_surviving_parts,
        subnetwork_scores=shown.draw_subnetwork_scores,
    )
