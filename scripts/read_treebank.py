"""Read the treebank that heads are compared with (Clark et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write its sentences, with their trees; and documents with mentions, if these are used."""
    from darksecrets.syntax import sources, treebank
    from darksecrets.syntax.coreference import documents
    from darksecrets.syntax.settings import Settings

    settings = Settings.of(job.params.settings)
    own = settings.coreference
    found = sources.everything(settings, job.input.all("annotations"))
    sentences = sources.some(found, settings)
    treebank.write(sentences, job.output.treebank)
    for file in job.output.all("documents"):
        treebank.write(documents(found, own.texts, own.seed), file)
    return {"sentences": len(sentences)}
