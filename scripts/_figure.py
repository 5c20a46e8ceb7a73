"""The part that the scripts of all figures share: read the table, draw, write every format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from darksecrets.contracts import TABLES
from darksecrets.plotting.style import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from snakemake.iocontainers import Snakemake


def draw(
    snakemake: Snakemake, figure: Callable[[pd.DataFrame, Sequence[str], str], Figure]
) -> None:
    """Draw a figure from its table, for the tasks and with the label of the rule's parameters."""
    params = snakemake.params
    path = Path(snakemake.input.table)
    table = TABLES[path.stem].read(path)
    write(snakemake, figure(table, params.tasks, params.label))


def write(snakemake: Snakemake, figure: Figure) -> None:
    """Write a figure in every format of the rule's output, with the rule and the run it is of."""
    save(
        figure,
        [Path(path) for path in snakemake.output],
        script=f"scripts/{snakemake.rule}.py",
        description=f"{snakemake.rule}, {snakemake.params.label}",
    )
