"""Test whether the same heads matter for every fine-tuning seed (section 4.6)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the rank correlations of the heads' effects between each pair of seeds."""
    from darksecrets.ablation.agreement import seed_agreement
    from darksecrets.ablation.tables import HEAD_ABLATION, SEED_AGREEMENT

    heads = HEAD_ABLATION.read(job.input.heads)
    SEED_AGREEMENT.write(seed_agreement(heads), job.output.table)
