"""Sample the maps to label from the attention stores of a run (section 4.1)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write a set of maps to label."""
    from darksecrets.attention.store import AttentionStore
    from darksecrets.patterns.sampling import sample_maps

    params = job.params
    origins = [(task, "finetuned", seed) for task, seed in params.seeds.items()]
    opened = map(AttentionStore.open, job.input.all("stores"))
    stores = dict(zip(origins, opened, strict=True))
    drawn = sample_maps(stores, params.size, params.seed, params.model)
    drawn.save(job.output.maps)
