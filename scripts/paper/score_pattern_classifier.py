"""Score the classifiers of patterns, and choose a typical map of every pattern (Figure 1)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the scores of every classifier with intervals; the chosen maps, and their arrays.

    Of the classifier that ships with the project, also write the predictions.
    """
    from darksecrets.paper.patterns.classes import STRICT
    from darksecrets.paper.patterns.maps import labelled_maps, typical
    from darksecrets.paper.patterns.network import quality
    from darksecrets.paper.patterns.tables import (
        CNN,
        EXAMPLE,
        PATTERN_CV,
        PATTERN_PREDICTIONS,
        TYPICAL_MAPS,
    )

    predictions = PATTERN_PREDICTIONS.read(job.input.predictions)
    for path in job.output.all("pattern_predictions"):
        PATTERN_PREDICTIONS.write(predictions, path)
    scores = quality.scores(predictions, job.params.resamples, job.params.seed)
    PATTERN_CV.write(scores, job.output.scores)
    data = labelled_maps.load(labelled_maps.folders(job.params.annotations))
    held_out = quality.predictions_of(CNN, predictions, EXAMPLE, STRICT)
    chosen = typical.choose(data, held_out)
    TYPICAL_MAPS.write(chosen, job.output.table)
    typical.save(chosen, data, job.output.maps)
