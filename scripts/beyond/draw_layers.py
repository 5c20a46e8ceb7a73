"""Draw what layers know."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.layers import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        layer_probes=shown.draw_layer_probes,
        structural_probes=shown.draw_structural_probes,
        layer_geometry=shown.draw_layer_geometry,
        removed_properties=shown.draw_removed_properties,
    )
