"""Draw every feature's stripes from the table of stripes (section 4.4)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the table; for every feature, draw and write every format."""
    from darksecrets.features.stripes import stripes
    from darksecrets.features.tables import STRIPES
    from darksecrets.plotting.style import save

    params = snakemake.params
    table = STRIPES.read(Path(snakemake.input.table))
    paths = [Path(path) for path in snakemake.output]
    for feature in params.features:
        save(
            stripes(table, feature, params.tasks, params.label),
            [path for path in paths if path.stem == f"stripes_{feature}"],
            script="scripts/stripes.py",
            description=f"stripes of {feature}, {params.label}",
        )


if __name__ == "__main__":
    with job(snakemake):
        main()
