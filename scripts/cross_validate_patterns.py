"""Cross-validate the classifier of patterns on the labelled maps (section 4.1)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write every classifier's prediction for every labelled map, and the scores."""
    import torch

    from darksecrets.patterns import annotations, crossvalidation, quality
    from darksecrets.patterns.cnn import Training
    from darksecrets.patterns.tables import PATTERN_CV, PATTERN_PREDICTIONS

    torch.set_num_threads(job.threads)
    settings = job.params.patterns
    predictions = crossvalidation.cross_validate(
        annotations.load(annotations.folders(settings["annotations"])),
        settings["folds"],
        Training(settings["epochs"], settings["seed"]),
    )
    scores = quality.scores(predictions, settings["resamples"], settings["seed"])
    PATTERN_PREDICTIONS.write(predictions, job.output.predictions)
    PATTERN_CV.write(scores, job.output.scores)
