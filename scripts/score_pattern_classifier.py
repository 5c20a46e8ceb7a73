"""Score the cross-validation of the classifier of patterns (section 4.1)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the scores of every classifier with bootstrap intervals."""
    from darksecrets.patterns import quality
    from darksecrets.patterns.tables import PATTERN_CV, PATTERN_PREDICTIONS

    predictions = PATTERN_PREDICTIONS.read(job.input.predictions)
    PATTERN_CV.write(
        quality.scores(predictions, job.params.resamples, job.params.seed), job.output.scores
    )
