"""Say which claims of papers hold by each measure of attention."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Decide the claims about what heads attend to by weights, and by the other measures."""
    from darksecrets.claims import measures, registry, sources
    from darksecrets.claims.tables import CLAIMS_BY_MEASURE
    from darksecrets.contracts import TABLES
    from darksecrets.run.columns import of_weights

    tables = sources.read(job.input.all("tables"), job.input.all("records"), TABLES)
    replaced = [of_weights(TABLES[path.stem]) for path in job.input.all("tables")]
    papers = measures.concerned(registry.read(job.input.all("registry")), replaced)
    decided = measures.table(papers, tables, sources.Run(**job.params.run), job.params.measures)
    CLAIMS_BY_MEASURE.write(decided, job.output.table)
