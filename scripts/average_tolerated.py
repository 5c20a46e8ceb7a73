"""Average the numbers of heads that are tolerated over fine-tuning seeds (section 4.6)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the means, with intervals over seeds and examples."""
    from darksecrets.ablation.joint_effects import tolerated_over_seeds
    from darksecrets.ablation.tables import TOLERATED_HEADS, TOLERATED_MEANS

    tolerated = TOLERATED_HEADS.read(job.input.tolerated)
    TOLERATED_MEANS.write(tolerated_over_seeds(tolerated), job.output.means)
