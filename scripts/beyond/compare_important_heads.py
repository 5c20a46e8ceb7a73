"""Correlate the importance of heads with what they do (Voita et al. 2019; Prasanna et al. 2020)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the rank correlations with every measure of heads that the run has."""
    from darksecrets.beyond.head_measures import HEAD_MEASURES
    from darksecrets.beyond.importance.declared import HEAD_IMPORTANCE, IMPORTANT_HEADS
    from darksecrets.beyond.importance.measure.statistics import important_heads
    from darksecrets.core.run.shown import tables_of

    files = {path.stem: path for path in job.input.all("tables")}
    declared = tables_of(HEAD_MEASURES)
    read = {name: table.read(files[name]) for name, table in declared.items() if name in files}
    found = important_heads(
        HEAD_IMPORTANCE.read(job.input.importance),
        [shown for shown in HEAD_MEASURES if shown.table.name in read],
        read,
        job.params.metrics,
        {"permutations": job.params.permutations, "seed": job.params.seed},
    )
    IMPORTANT_HEADS.write(found, job.output.table)
