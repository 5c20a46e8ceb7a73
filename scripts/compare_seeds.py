"""Say whether the same heads matter for every fine-tuning seed (section 4.6)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the rank correlations of the heads' effects between every two seeds."""
    from darksecrets.ablation.agreement import seed_agreement
    from darksecrets.ablation.tables import HEAD_ABLATION, SEED_AGREEMENT

    heads = HEAD_ABLATION.read(Path(snakemake.input.heads))
    SEED_AGREEMENT.write(seed_agreement(heads), Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
