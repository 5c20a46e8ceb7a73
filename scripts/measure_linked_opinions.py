"""Measure how much heads attend along links by norms and effective attention (section 4.2)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the table of the pre-trained encoder, and of random weights, by every measure."""
    from darksecrets.framenet.links import read_table
    from darksecrets.framenet.tables import HEADS
    from darksecrets.models.loading import Draw
    from darksecrets.opinions.linked import linked
    from darksecrets.opinions.running import run
    from darksecrets.opinions.tables import LINKED_HEADS, with_weights

    params, folder = job.params, job.input.model
    draw = Draw(int(params.random.partition("/seed-")[2]), params.std)
    annotations = read_table(job.input.links)
    maps = run(
        {"pretrained": (folder, None), params.random: (folder, draw)},
        {"sentence1": [annotation.sentence for annotation in annotations]},
        params.measures,
        max_length=params.max_length,
        batch_size=params.batch_size,
    )
    others = linked(maps, annotations, params.draws, params.seed)
    LINKED_HEADS.write(with_weights(HEADS.read(job.input.heads), others), job.output.table)
