"""Draw the validation examples whose attention is studied (section 3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the ``idx`` of the sampled examples."""
    from darksecrets.data.checks import sample
    from darksecrets.data.tables import SAMPLE

    params = snakemake.params
    table = sample(Path(snakemake.input.dataset), params.size, params.seed)
    SAMPLE.write(table, Path(snakemake.output.sample))


if __name__ == "__main__":
    with job(snakemake):
        main()
