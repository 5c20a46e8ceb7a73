"""Give every attention map of one model on one task its pattern (section 4.1)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the pattern of every map, compressed: they are many; return where they were found."""
    import torch

    from darksecrets.attention.store import AttentionStore
    from darksecrets.models import devices
    from darksecrets.patterns import cnn
    from darksecrets.patterns.classification import classify, maps_at_once
    from darksecrets.run.files import compressed
    from darksecrets.run.tables import identify

    torch.set_num_threads(job.threads)
    net, temperature = cnn.load(job.input.classifier)
    store, device = AttentionStore.open(job.input.store), devices.best()
    batch_size = maps_at_once(store, device)
    table = classify(store, net, temperature, batch_size)
    table = identify(table, job.wildcards.task, job.wildcards.model)
    with compressed(job.output.maps) as stream:
        table.to_csv(stream, index=False, float_format="%.4f")
    return {"classification": {"device": str(device), "maps_at_once": batch_size}}
