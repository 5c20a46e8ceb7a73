"""Train the classifier of patterns on all labelled maps (section 4.1)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Train, calibrate with the cross-validated predictions, save."""
    import torch

    from darksecrets.patterns import annotations, cnn, crossvalidation, trained
    from darksecrets.patterns.tables import PATTERN_PREDICTIONS

    torch.set_num_threads(job.threads)
    settings = job.params.training
    data = annotations.load(annotations.folders(settings["annotations"]))
    training = cnn.Training(settings["epochs"], settings["seed"])
    net = cnn.train(cnn.images(data.maps), data.labels, training)
    predictions = PATTERN_PREDICTIONS.read(job.input.predictions)
    temperature = crossvalidation.network_temperature(predictions)
    cnn.save(net, temperature, job.output.classifier)
    return {
        "temperature": temperature,
        "maps": data.table["label"].value_counts().to_dict(),
        "training_code": trained.training_code(),
    }
