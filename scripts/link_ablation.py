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
    from darksecrets.files import write_table

    tables = (snakemake.input[name] for name in ("heads", "framenet", "equal_words"))
    write_table(linked(*(pd.read_csv(path) for path in tables)), Path(snakemake.output.table))


if __name__ == "__main__":
    with job(snakemake):
        main()
