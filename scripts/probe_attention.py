"""Train and score probes that parse by the attention of all heads (Clark et al. 2019)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the table of all probes of the pre-trained model."""
    from darksecrets.models.loading import Draw
    from darksecrets.run.tables import identify
    from darksecrets.syntax import treebank
    from darksecrets.syntax.probe_tables import ATTENTION_PROBES
    from darksecrets.syntax.probing import Reading, chosen, probe_table

    params = job.params
    sentences = chosen(treebank.read(job.input.treebank), params.sentences, params.seed)
    reading = Reading(job.input.model, params.max_length, params.batch_size)
    draw = Draw(int(params.random.partition("/seed-")[2]), params.std)
    table = probe_table(sentences, reading, draw, params.seed)
    ATTENTION_PROBES.write(identify(table, None, "pretrained"), job.output.table)
