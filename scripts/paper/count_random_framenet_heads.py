"""Count the heads of encoders with random weights that exceed all controls (section 4.2)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write how many heads of each of several random encoders do."""
    from darksecrets.core.models.loading import Draw
    from darksecrets.paper.framenet.links import read_table
    from darksecrets.paper.framenet.tables import RANDOM_HEADS
    from darksecrets.paper.framenet.untrained import ENCODERS, count_exceeding

    params = job.params
    first = int(params.first.partition("/seed-")[2])
    draws = [Draw(number, params.std) for number in range(first, first + ENCODERS)]
    annotations = read_table(job.input.links)
    found = count_exceeding(job.input.model, annotations, draws, params.extraction, params.tests)
    RANDOM_HEADS.write(found, job.output.table)
