"""Choose a typical map of every pattern among the labelled ones (Figure 1)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write a table of the chosen maps, and their arrays beside it."""
    from darksecrets.patterns import annotations, typical
    from darksecrets.patterns.classes import WIDE
    from darksecrets.patterns.quality import of_classifier
    from darksecrets.patterns.tables import PATTERN_PREDICTIONS, TYPICAL_MAPS

    data = annotations.load(annotations.folders(job.params.annotations))
    chosen = typical.choose(
        data, of_classifier(PATTERN_PREDICTIONS.read(job.input.predictions), WIDE)
    )
    TYPICAL_MAPS.write(chosen, job.output.table)
    typical.save(chosen, data, job.output.maps)
