"""What the module of a figure has in common with all others: a function ``draw``.

``draw(sources)`` reads a figure's tables and gives the figure; or several, by the name of the file;
or texts, by the name of the file with its suffix. The workflow finds the module by the name of the
figure, and writes what it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from darksecrets.plotting.style import save
from darksecrets.run.files import write_text
from darksecrets.run.tables import Table

Drawn = Figure | Mapping[str, Figure] | Mapping[str, str]


@dataclass(frozen=True)
class Sources:
    """What a figure is drawn from.

    Attributes:
        paths: Files of an input, by its name; none for an input that the run does not have.
        tasks: The tasks to draw, in this order.
        label: The run, its model and its data in a few words, for the small print.
    """

    paths: Callable[[str], Sequence[Path]]
    tasks: Sequence[str]
    label: str

    def file(self, name: str) -> Path:
        """The one file of an input."""
        (path,) = self.paths(name)
        return path

    def table(self, declared: Table, name: str = "table") -> pd.DataFrame:
        """The table of an input, checked against its declaration."""
        return declared.read(self.file(name))


def write(drawn: Drawn, paths: Iterable[Path], *, script: str, description: str) -> None:
    """Write what ``draw`` gave to the files of a rule.

    Args:
        drawn: One figure for all files; or figures and texts, by name.
        paths: Files to write, each atomically; a figure in the format of the suffix.
        script: The module that draws, such as ``darksecrets.finetuning.figure5``.
        description: What the figure shows, from which run.
    """
    for path in paths:
        if isinstance(drawn, Figure):
            page: Figure | str = drawn
        else:
            page = drawn[path.name if path.name in drawn else path.stem]
        if isinstance(page, str):
            write_text(page, path)
        else:
            save(page, [path], script=script, description=description)
