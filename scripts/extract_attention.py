"""Gather the chunks of an attention store (section 3)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the store; return the provenance of its chunks, which say how maps were computed."""
    from darksecrets.attention.chunks import gather
    from darksecrets.run.provenance import read_record

    chunks = job.input.all("chunks")
    gather(chunks, job.input.sample, job.output.store)
    return {"chunks": [read_record(chunk) for chunk in chunks]}
