"""Find a model's good subnetwork; predict with it and with others (Prasanna et al. 2020)."""

from typing import Any

from _models import read_model
from _tables import write_of_model

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write which parts each subnetwork keeps, and the predictions; return the search's scores."""
    import numpy as np

    from darksecrets.beyond.importance.measure.gradients import sample
    from darksecrets.beyond.subnetworks.declared import SUBNETWORKS, Settings
    from darksecrets.beyond.subnetworks.measure.running import predicted, subnetworks
    from darksecrets.beyond.subnetworks.measure.search import Examples, search
    from darksecrets.core.interventions.sweep import check_labels
    from darksecrets.core.models import devices

    params, settings = job.params, Settings.of(job.params.settings)
    task, loaded, (train, validation) = read_model(job, "train", "validation")
    check_labels(validation.labels, task, str(job.input.dataset))
    model = devices.place(loaded)
    examples = Examples.of(sample(train, settings.examples, params.seed))
    rng = np.random.default_rng([params.seed, int(job.wildcards.seed)])
    found = search(model, train, task, examples, settings.share, rng)
    table = subnetworks(model, found, settings.draws, params.seed)
    write_of_model(job, {SUBNETWORKS: table})
    predicted(model, validation, task, table).save(job.output.predictions)
    heads, mlps = found.good.size
    return {"search": {"scores": found.scores, "heads": heads, "mlps": mlps}}
