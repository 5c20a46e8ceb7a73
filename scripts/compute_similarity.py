"""Compare each head's maps before and after fine-tuning (section 4.3)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the mean cosine similarity of every layer and head."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.finetuning.cosine import table
    from darksecrets.finetuning.tables import COSINE

    before, after = map(AttentionStore.open, (job.input.pretrained, job.input.finetuned))
    similarity = table(before, after)
    similarity.insert(0, "task", job.wildcards.task)
    similarity.insert(1, "seed", int(job.wildcards.seed))
    COSINE.write(similarity, job.output.similarity)
