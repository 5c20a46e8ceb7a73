"""Correlate attention to related tokens with the heads' diagonal scores (section 4.5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Read the table of all heads, write the correlations of every model."""
    from darksecrets.features.diagonal import diagonal_correlations
    from darksecrets.features.tables import TOKEN_PAIR_CORRELATIONS, TOKEN_PAIRS

    pairs = TOKEN_PAIRS.read(job.input.pairs)
    correlations = diagonal_correlations(pairs, job.params.draws, job.params.seed)
    TOKEN_PAIR_CORRELATIONS.write(correlations, job.output.table)
