"""Classify the pattern of every attention map of one model on one task (section 4.1)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the pattern of every map; return the device and batch size."""
    import torch

    from darksecrets.attention.store import AttentionStore
    from darksecrets.models import devices
    from darksecrets.patterns import classifier
    from darksecrets.patterns.classification import batch_size_for, classify
    from darksecrets.patterns.tables import PATTERN_MAPS
    from darksecrets.run.tables import identify

    torch.set_num_threads(job.threads)
    trained = classifier.load(job.input.classifier)
    store, device = AttentionStore.open(job.input.store), devices.best()
    batch_size = batch_size_for(store, device)
    table = classify(store, trained, batch_size)
    PATTERN_MAPS.write(identify(table, job.wildcards.task, job.wildcards.model), job.output.maps)
    return {"classification": {"device": str(device), "batch_size": batch_size}}
