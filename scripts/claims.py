"""Say which claims of papers hold in this run."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Decide every claim of the registry from the run's tables, and write table and pages."""
    from darksecrets.claims import deciding, page, registry, sources
    from darksecrets.claims.tables import CLAIMS
    from darksecrets.contracts import TABLES
    from darksecrets.run.files import write_text

    papers = registry.of_run(registry.read(job.input.all("registry")), job.params.analyses)
    run = sources.Run(**job.params.run)
    tables = sources.read(job.input.all("tables"), job.input.all("records"), TABLES)
    CLAIMS.write(deciding.table(papers, tables, run), job.output.table)
    claims = CLAIMS.read(job.output.table)
    write_text(page.markdown(papers, claims, job.params.label), job.output.markdown)
    write_text(page.html(papers, claims, job.params.label), job.output.html)
