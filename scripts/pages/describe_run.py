"""Say what made the run: commits, seeds, revisions, hardware, time and memory of every rule."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Gather the records of the run's jobs."""
    from darksecrets.core.data.metrics import METRICS
    from darksecrets.core.run import learned
    from darksecrets.core.run.files import write_json, write_text
    from darksecrets.pages.claims.findings import FINDINGS
    from darksecrets.pages.report import history, opening

    run = job.output.page.parent
    facts = history.facts(run, **job.params.facts)
    costs = history.costs(run)
    unlearned = learned.read(run / "tables" / f"{learned.TABLE}.csv")
    found = FINDINGS.read(run / "tables" / FINDINGS.file)["sentence"].tolist()
    titles = {name: metric.title for name, metric in METRICS.items()}
    scores = opening.scores(run / "tables" / "score_means.csv", titles, unlearned)
    write_text(opening.html(facts, costs, unlearned, found, scores), job.output.page)
    write_json({"facts": facts, "costs": costs.round(2).to_dict("records")}, job.output.record)
