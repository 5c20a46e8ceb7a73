"""Measure how much heads attend along links by norms and effective attention (section 4.2)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of the pre-trained encoder, and of random weights, by every measure."""
    from darksecrets.beyond.attention_measures.declared import LINKED_CONTROLS, LINKED_HEADS
    from darksecrets.beyond.attention_measures.measure.heads import linked
    from darksecrets.beyond.attention_measures.measure.running import run
    from darksecrets.core.models.reading import readings
    from darksecrets.paper.framenet.links import read_table

    params, annotations = job.params, read_table(job.input.links)
    models = readings(params.models, [job.input.model] * 2, **params.reading)
    examples = {"sentence1": [annotation.sentence for annotation in annotations]}
    maps = run(models, examples, params.measures)
    heads, controls = linked(maps, annotations, params.draws, params.seed)
    LINKED_HEADS.write(heads, job.output.heads)
    LINKED_CONTROLS.write(controls, job.output.controls)
