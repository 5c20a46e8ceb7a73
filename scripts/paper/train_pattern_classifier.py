"""Train the classifier of patterns on all labelled maps (section 4.1)."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Train, calibrate with the cross-validated predictions, save."""
    import numpy as np
    import torch

    from darksecrets.core.run.files import atomic
    from darksecrets.paper.patterns.maps import labelled_maps
    from darksecrets.paper.patterns.network import classifier, crossvalidation, teaching, trained
    from darksecrets.paper.patterns.network.cnn import Training
    from darksecrets.paper.patterns.tables import PATTERN_PREDICTIONS

    torch.set_num_threads(job.threads)
    settings = job.params.training
    data = labelled_maps.load(labelled_maps.folders(settings["annotations"]))
    prepared = teaching.Prepared.of(data, settings["seed"])
    rows = np.arange(len(data.table))
    training = Training(settings["epochs"], settings["seed"], settings["drawn_maps"])
    drawn = teaching.prepare_drawn(training)
    predictions = PATTERN_PREDICTIONS.read(job.input.predictions)
    temperature = crossvalidation.mean_temperature(predictions)
    network = teaching.train_network(prepared, rows, drawn, training)
    found = classifier.Classifier(network, temperature)
    with atomic(job.output.classifier) as folder:
        classifier.save(found, folder)
        trained.record_training(folder, settings, job.input.all("labelled"))
    maps = data.table["label"].value_counts().to_dict()
    return {"temperature": temperature, "maps": maps}
