"""Store the attention maps of a task's models on the sampled examples (section 3)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write a store for every model, of all examples or of the job's chunk; or gather chunks.

    Returns:
        How the maps were computed; or the provenance of the chunks, which says that.
    """
    from darksecrets.attention.chunks import gather_models
    from darksecrets.attention.extraction import extract_models, read_sample
    from darksecrets.data.sampling import sample
    from darksecrets.run.provenance import read_record

    params, wildcards = job.params, job.wildcards
    sampled = sample(job.input.dataset, **params.samples)
    if chunks := job.input.all("chunks"):
        gather_models(params.models, chunks, sampled, job.output.stores)
        return {"chunks": [read_record(chunk) for chunk in chunks]}
    folders = [job.input.pretrained, *job.input.all("finetuned")]
    details = extract_models(
        dict(zip(params.models, folders, strict=True)),
        read_sample(job.input.dataset, sampled),
        job.output.stores,
        max_length=params.max_length,
        batch_size=params.batch_size,
        chunk=int(wildcards.get("chunk", 1)),
        chunks=int(wildcards.get("chunks", 1)),
    )
    return {"extraction": details}
