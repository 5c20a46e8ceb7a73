"""Compare how much fine-tuning changes the layers (section 4.3)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the change of every layer, and whether the last two change most."""
    from darksecrets.finetuning.layers import changes_of, last_layers, layer_changes
    from darksecrets.finetuning.tables import LAST_LAYERS, LAYER_CHANGES, LAYER_SIMILARITY

    changes = changes_of([LAYER_SIMILARITY.read(path) for path in job.input.all("layers")])
    LAYER_CHANGES.write(layer_changes(changes), job.output.layer_changes)
    LAST_LAYERS.write(last_layers(changes), job.output.last_layers)
