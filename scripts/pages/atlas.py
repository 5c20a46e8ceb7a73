"""Make the atlas of heads: one page that shows the run."""

import json

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Gather the run's tables and maps, and write the page."""
    from darksecrets.core.run.files import write_text
    from darksecrets.pages.atlas import building, html
    from darksecrets.pages.claims import registry
    from darksecrets.pages.claims.findings import FINDINGS
    from darksecrets.pages.claims.tables import CLAIMS
    from darksecrets.pages.contracts import TABLES
    from darksecrets.pages.report import history

    tables = {path.stem: TABLES[path.stem].read(path) for path in job.input.all("tables")}
    maps = {path.stem: json.loads(path.read_text("utf-8")) for path in job.input.all("maps")}
    papers = registry.select_for_run(registry.read(job.input.all("registry")), job.params.analyses)
    made = history.facts(job.output.page.parent, **job.params.facts)
    run = building.Run(**job.params.run, made=made)
    found = FINDINGS.read(job.input.findings)
    claims = CLAIMS.read(job.input.claims)
    content, numbers = building.content(run, tables, found, claims, papers, maps)
    write_text(html.page(content, numbers), job.output.page)
