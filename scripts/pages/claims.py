"""Say which claims hold in this run, what it found, and put its numbers beside the paper's."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Decide every claim of the registry from the run's tables, and write tables and page."""
    from darksecrets.core.run.files import write_text
    from darksecrets.pages.claims import beside_paper, deciding, findings, page, registry, sources
    from darksecrets.pages.claims.tables import BESIDE_PAPER, CLAIMS
    from darksecrets.pages.contracts import TABLES

    papers = registry.select_for_run(registry.read(job.input.all("registry")), job.params.analyses)
    run = sources.Run(**job.params.run)
    tables = sources.read(job.input.all("tables"), TABLES)
    CLAIMS.write(deciding.table(papers, tables, run), job.output.table)
    claims = CLAIMS.read(job.output.table)
    write_text(page.html(papers, claims, job.params.label), job.output.html)
    printed = beside_paper.read(job.input.numbers, job.input.table1)
    BESIDE_PAPER.write(beside_paper.compare(printed, tables, run), job.output.beside_paper)
    found = {path.stem: TABLES[path.stem].read(path) for path in job.input.all("found")}
    sentences = findings.find(found, claims, findings.Run(**job.params.findings))
    findings.FINDINGS.write(sentences, job.output.findings)
