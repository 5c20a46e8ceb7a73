"""Measure what every head of a model attends to (sections 4.4, 4.5 and 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of one task and model."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.features.head_types import StatisticsCollector
    from darksecrets.features.measures import MEASURES, measure
    from darksecrets.features.profiles import Collector
    from darksecrets.features.strongest import StrongestCollector
    from darksecrets.features.tokens import describe
    from darksecrets.run.tables import identify

    store = AttentionStore.open(job.input.store)
    tokens = describe(store, job.input.annotation)
    collector, strongest, statistics = Collector(), StrongestCollector(), StatisticsCollector()
    measured = measure(
        store,
        tokens,
        job.params.seed,
        collector=collector,
        strongest=strongest,
        statistics=statistics,
    )
    for name, rows in measured.items():
        rows = identify(rows, job.wildcards.task, job.wildcards.model)
        MEASURES[name].table.write(rows, getattr(job.output, name))
    collector.profiles().save(job.output.examples)
    strongest.together().save(job.output.strongest)
    statistics.together().save(job.output.statistics)
