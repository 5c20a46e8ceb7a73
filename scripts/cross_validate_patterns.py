"""Cross-validate the classifier of patterns on the labelled maps (section 4.1)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write every classifier's prediction for every labelled map."""
    import torch

    from darksecrets.patterns import annotations, crossvalidation
    from darksecrets.patterns.cnn import Training
    from darksecrets.patterns.tables import PATTERN_PREDICTIONS

    torch.set_num_threads(job.threads)
    settings = job.params.training
    predictions = crossvalidation.cross_validate(
        annotations.load(annotations.folders(settings["annotations"])),
        settings["folds"],
        Training(settings["epochs"], settings["seed"]),
    )
    PATTERN_PREDICTIONS.write(predictions, job.output.predictions)
