"""Say whether the same heads matter for every fine-tuning seed (section 4.6)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the rank correlations of the heads' effects between every two seeds."""
    import pandas as pd

    from darksecrets.ablation.agreement import seed_agreement
    from darksecrets.run.files import write_table

    write_table(seed_agreement(pd.read_csv(job.input.heads)), job.output.table)
