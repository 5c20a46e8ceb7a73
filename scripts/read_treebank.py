"""Read the treebank that heads are compared with (Clark et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write its sentences, with their trees; and documents with mentions, if these are used."""
    from darksecrets.syntax import sources, treebank
    from darksecrets.syntax.coreference import documents

    params = job.params
    found = sources.everything(params.treebank, job.input.all("annotations"))
    sentences = sources.some(found, params.treebank)
    treebank.write(sentences, job.output.treebank)
    if own := params.documents:
        treebank.write(documents(found, own["texts"], own["seed"]), job.output.documents)
    return {"sentences": len(sentences)}
