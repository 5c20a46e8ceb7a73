"""Read the treebank that heads are compared with (Clark et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write its sentences, with their trees."""
    from darksecrets.syntax import sources, treebank
    from darksecrets.syntax.settings import Settings

    settings = Settings.of(job.params.settings)
    found = sources.everything(settings, job.input.all("annotations"))
    sentences = sources.some(found, settings)
    treebank.write(sentences, job.output.treebank)
    return {"sentences": len(sentences)}
