"""Measure what every head of a model looks at (sections 4.4, 4.5 and 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of one task and model."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.features.measures import measure
    from darksecrets.features.tokens import describe
    from darksecrets.run.files import write_table
    from darksecrets.run.tables import identify

    store = AttentionStore.open(job.input.store)
    tokens = describe(store, job.input.annotation)
    for name, table in measure(store, tokens, job.params.seed).items():
        table = identify(table, job.wildcards.task, job.wildcards.model)
        write_table(table, getattr(job.output, name))
