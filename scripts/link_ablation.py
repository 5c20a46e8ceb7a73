"""Look up the effects of the heads that the other experiments single out (section 5)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the effects of these heads beside those of all others."""
    import pandas as pd

    from darksecrets.ablation.links import linked
    from darksecrets.run.files import write_table

    inputs = snakemake.input
    pairs = [pd.read_csv(path) for path in inputs.equal_words]  # none without a task of pairs
    equal_words = pairs[0] if pairs else None
    table = linked(pd.read_csv(inputs.heads), pd.read_csv(inputs.framenet), equal_words)
    write_table(table, Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
