"""Compare which heads matter, between fine-tuning seeds and between tasks (section 4.6)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write rank correlations of the heads' effects, and the worst heads of every task."""
    from darksecrets.ablation import agreement, tables
    from darksecrets.features.tables import EQUAL_WORDS

    heads = tables.HEAD_ABLATION.read(job.input.heads)
    words = [EQUAL_WORDS.read(path) for path in job.input.all("equal_words")]  # none without pairs
    metrics, draws = job.params.metrics, job.params.draws
    found = {
        tables.SEED_AGREEMENT: agreement.seed_agreement(heads, draws),
        tables.TASK_AGREEMENT: agreement.task_agreement(heads, metrics, draws),
        tables.WORST_OVERLAP: agreement.worst_overlap(heads, metrics, draws),
        tables.WORST_HEADS: agreement.worst_heads(
            heads, metrics, draws, words[0] if words else None
        ),
    }
    for declared, table in found.items():
        declared.write(table, getattr(job.output, declared.name))
