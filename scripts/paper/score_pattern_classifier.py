"""Score the classifiers of patterns."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the scores of every classifier with intervals.

    Of the classifier that ships with the project, also write the predictions.
    """
    from darksecrets.paper.patterns.network import quality
    from darksecrets.paper.patterns.tables import PATTERN_CV, PATTERN_PREDICTIONS

    predictions = PATTERN_PREDICTIONS.read(job.input.predictions)
    for path in job.output.all("pattern_predictions"):
        PATTERN_PREDICTIONS.write(predictions, path)
    scores = quality.scores(predictions, job.params.resamples, job.params.seed)
    PATTERN_CV.write(scores, job.output.scores)
