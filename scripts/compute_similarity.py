"""Compare each head's maps before and after fine-tuning (section 4.3)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the mean cosine similarity of every layer and head, and that of layers by example."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.finetuning.cosine import compare, layer_table, table
    from darksecrets.finetuning.tables import COSINE, LAYER_SIMILARITY

    before, after = map(AttentionStore.open, (job.input.pretrained, job.input.finetuned))
    others = [AttentionStore.open(folder) for folder in job.input.all("other_seed")]
    found = compare(before, after, *others)
    for rows, declared, path in (
        (table(found), COSINE, job.output.similarity),
        (layer_table(found), LAYER_SIMILARITY, job.output.layers),
    ):
        rows.insert(0, "task", job.wildcards.task)
        rows.insert(1, "seed", int(job.wildcards.seed))
        declared.write(rows, path)
