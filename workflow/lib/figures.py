"""What the rules of figures know of a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A figure, or a table for readers.

    Attributes:
        name: Its name: of its files, its caption and its target.
        what: What it shows, for `snakemake --list`.
        label: What the list of the report calls it.
        section: The chapter of the report.
        is_made: Whether the run makes it.
        left_out: Why not, if the configuration or the encoder leaves it out.
        formats: Suffixes of its files; the report shows the first.
        metrics: Metrics of the tasks that it shows, by task.
        options: Settings that the module reads.
        sources: Files that it is drawn from, by the names that the module reads them by.
    """

    name: str
    what: str
    label: str
    section: str
    is_made: bool
    left_out: str
    formats: tuple[str, ...]
    metrics: Mapping[str, list[str]]
    options: Mapping[str, str]
    sources: Mapping[str, str | list[str]]

    @property
    def files(self) -> list[str]:
        """Its files."""
        return [f"<results>/figures/{self.name}.{suffix}" for suffix in self.formats]

    @property
    def inputs(self) -> dict[str, str | list[str]]:
        """Inputs of the job that draws it, with names that no other figure of the job has."""
        return {f"{self.name}_{name}": files for name, files in self.sources.items()}

    @property
    def tables(self) -> list[str]:
        """Names of the run's tables that it shows."""
        sources = self.sources.values()
        files = [file for each in sources for file in ([each] if isinstance(each, str) else each)]
        return sorted({Path(file).stem for file in files if "/tables/" in file})

    def settings(self, module: str, function: str) -> dict[str, Any]:
        """What the script that draws it by a function of a module is told."""
        return {
            "module": module,
            "function": function,
            "metrics": self.metrics,
            "options": self.options,
        }


def locate(project: Path, name: str, package: str | None) -> tuple[str, str]:
    """Module and function that draw a figure.

    Args:
        project: The project's folder.
        name: The figure.
        package: The package of the analysis that it belongs to; None for the paper's figures.

    Returns:
        Of the paper, `draw` in the module of the figure's name; of an analysis, the function of
        the figure's name in `shown`.
    """
    if package is not None:
        return f"darksecrets.beyond.{package}.shown", f"draw_{name}"
    (path,) = project.glob(f"darksecrets/paper/*/figures/{name}.py")
    return ".".join(path.relative_to(project).with_suffix("").parts), "draw"
