"""Draw heads beside treebanks and coreference."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Draw each figure of the rule from tables of the run."""
    from darksecrets.beyond.syntax import shown
    from darksecrets.core.plotting.drawing import draw_figures

    draw_figures(
        job,
        syntactic_heads=shown.draw_syntactic_heads,
        attention_trees=shown.draw_attention_trees,
        attention_to_subjects=shown.draw_attention_to_subjects,
        attention_probes=shown.draw_attention_probes,
        coreference_heads=shown.draw_coreference_heads,
    )
