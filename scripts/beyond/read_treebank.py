"""Read the treebank that heads are compared with (Clark et al. 2019)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write its sentences, with their trees."""
    from darksecrets.beyond.syntax.declared import Settings
    from darksecrets.beyond.syntax.measure import sources
    from darksecrets.core.data import treebank

    settings = Settings.of(job.params.settings)
    found = sources.everything(settings, job.input.all("annotations"))
    sentences = sources.some(found, settings)
    treebank.write(sentences, job.output.treebank)
    return {"sentences": len(sentences)}
