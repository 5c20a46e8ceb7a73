"""Train the classifier of patterns on all labelled maps (section 4.1)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main(details: dict[str, Any]) -> None:
    """Train, calibrate with the cross-validated predictions, save."""
    import torch

    from darksecrets.patterns import annotations, cnn, crossvalidation
    from darksecrets.patterns.tables import PATTERN_PREDICTIONS

    torch.set_num_threads(snakemake.threads)
    settings = snakemake.params.patterns
    data = annotations.load(annotations.folders(settings["annotations"]))
    training = cnn.Training(settings["epochs"], settings["seed"])
    net = cnn.train(cnn.images(data.maps), data.labels, training)
    predictions = PATTERN_PREDICTIONS.read(Path(snakemake.input.predictions))
    temperature = crossvalidation.network_temperature(predictions)
    cnn.save(net, temperature, Path(snakemake.output.classifier))
    details["temperature"] = temperature
    details["maps"] = data.table["label"].value_counts().to_dict()


if __name__ == "__main__":
    with job(snakemake) as details:
        main(details)
