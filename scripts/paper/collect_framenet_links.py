"""Collect the sentences whose frame-semantic links are studied (section 4.2)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Read the source, select as the paper does, write a row per link."""
    from darksecrets.paper.framenet.links import links_table
    from darksecrets.paper.framenet.sources import collect
    from darksecrets.paper.framenet.tables import LINKS

    downloaded = next(iter(job.input.all("downloaded")), None)
    LINKS.write(links_table(collect(dict(job.params.items()), downloaded)), job.output.table)
