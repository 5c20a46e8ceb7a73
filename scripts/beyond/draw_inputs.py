"""Draw what models do with changed inputs."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.inputs import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        changed_inputs=shown.draw_changed_inputs,
        hans=shown.draw_hans,
    )
