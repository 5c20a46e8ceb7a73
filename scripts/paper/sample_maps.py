"""Sample the maps to label from the attention stores of a run (section 4.1)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write a set of maps to label."""
    from darksecrets.core.attention.store import AttentionStore
    from darksecrets.paper.patterns.maps.sampling import sample_maps

    params = job.params
    folders = zip(params.seeds.items(), job.input.all("stores"), strict=True)
    stores = {
        (task, "finetuned", seed): AttentionStore.open(folder / f"finetuned/seed-{seed}")
        for (task, seed), folder in folders
    }
    sample_maps(stores, params.size, params.seed, params.model).save(job.output.maps)
