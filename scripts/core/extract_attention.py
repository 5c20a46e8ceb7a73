"""Store the attention maps of a task's models on the sampled examples (section 3)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write a store for every model; return how the maps were computed."""
    from darksecrets.core.attention.extraction import extract_models, read_sample
    from darksecrets.core.data.sampling import sample

    params = job.params
    sampled = sample(job.input.dataset, **params.samples)
    folders = [job.input.pretrained, *job.input.all("finetuned"), job.input.pretrained]
    details = extract_models(
        dict(zip(params.models, folders, strict=True)),
        read_sample(job.input.dataset, sampled),
        job.output.stores,
        **params.reading,
    )
    return {"extraction": details}
