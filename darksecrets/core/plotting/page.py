"""The page of a figure: a column of panels for each task, headline, legend, colour bars, label."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from matplotlib.figure import Figure, SubFigure

from darksecrets.core.plotting.matrices import scale
from darksecrets.core.plotting.style import (
    TITLE,
    Header,
    blocks,
    label_run,
    new_figure,
    style,
    width_for,
    wrapped,
)
from darksecrets.core.run.learned import LEFT_OUT, NOTE
from darksecrets.core.words import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colorbar import Colorbar

    from darksecrets.core.plotting.drawing import Sources
    from darksecrets.core.plotting.style import Entry

MOST = 8
"""Tasks side by side."""
_LINE = 0.14  # inches of a line of text
_NARROW = 1.6  # inches: wider panels are higher, too


@dataclass(frozen=True, eq=False)
class Bar:
    """A colour bar that panels share.

    Attributes:
        label: Meaning of the colours.
        marks: Values that are marked on it, with the look of their lines.
        below: Below all panels, instead of beside each row.
        finish: Changes it last, such as its ticks.
    """

    label: str
    marks: Mapping[float, Mapping[str, Any]] = field(default_factory=dict)
    below: bool = False
    finish: Callable[[Colorbar], object] = id

    def draw(
        self,
        figure: Figure | SubFigure,
        mesh: ScalarMappable,
        axes: Axes,
        orientation: Literal["vertical", "horizontal"],
    ) -> None:
        """Draw it on these axes."""
        where = {"cax": axes, "orientation": orientation}
        self.finish(scale(figure, mesh, self.label, self.marks, **where))


@dataclass(frozen=True)
class Panel:
    """A panel that every column has.

    Attributes:
        draw: Draws the panel of a column, given its axes, the column, and the words of ``of``;
            returns what has the colours of the bar.
        name: Name of the panel in the label of its axes, with the column and the words of ``of``.
        of: Which panel of the column it is.
        title: Title under that of the column, for the first row of panels.
        x: Label of the x axis; numbers are only written where there is one. With none, both axes
            keep the labels that they are drawn with.
        y: Label of the y axis, written in the first column.
        height: Inches of a narrow panel; wide ones are higher.
        fixed: Whether it has this height, however wide it is.
        width: Width relative to the panels beside it.
        share: With which panels it has the y axis in common: those of all columns, or the one at
            its left.
        bar: Colour bar, shared by all panels of a row, and with rows that have the same.
    """

    draw: Callable[..., ScalarMappable | None]
    name: str = ""
    of: tuple[str, ...] = ()
    title: str = ""
    x: str | None = ""
    y: str = ""
    height: float = 1.2
    fixed: bool = False
    width: float = 1.0
    share: Literal["", "columns", "left"] = ""
    bar: Bar | None = None


@dataclass(frozen=True)
class Grid:
    """Panels of some columns.

    Attributes:
        columns: Names of the columns, most often tasks.
        panels: The panels of each column, by row; or the only one.
        most: Columns side by side; further ones follow below.
        title: Gives the title of a column.
        headline: What is written above.
        align: Where titles stand above their panels.
    """

    columns: Sequence[str]
    panels: Panel | Sequence[Sequence[Panel]]
    most: int = MOST
    title: Callable[[str], str] = str
    headline: str = ""
    align: Literal["left", "center"] = "center"

    @property
    def rows(self) -> Sequence[Sequence[Panel]]:
        """The panels of each column, by row."""
        return [[self.panels]] if isinstance(self.panels, Panel) else self.panels

    def height(self, width: float) -> float:
        """Inches that it takes in a figure of this width."""
        groups, beside = blocks(len(self.columns), self.most)
        across = sum(panel.width for panel in self.rows[0]) / self.rows[0][0].width
        higher = max(1.0, (width / beside / across / _NARROW) ** 0.5)
        row_heights = sum(row[0].height * (1 if row[0].fixed else higher) for row in self.rows)
        return groups * (row_heights + (1.4 + bool(self.headline)) * _LINE)

    def fill(self, figure: SubFigure, width: float) -> None:
        """Draw all panels to a figure of this width."""
        groups, beside = blocks(len(self.columns), self.most)
        across = len(self.rows[0])
        bars = [row[0].bar for row in self.rows]
        below = list(dict.fromkeys(bar for bar in bars if bar and bar.below))
        at_side = any(bar and not bar.below for bar in bars)
        heights = [row[0].height for row in self.rows] * groups
        widths = [panel.width for panel in self.rows[0]] * beside
        slots = figure.add_gridspec(
            len(heights) + len(below),
            len(widths) + at_side,
            height_ratios=heights + [0.04 * max(heights)] * len(below),
            width_ratios=widths + [0.07 * max(widths)] * at_side,
        )
        firsts: dict[tuple[int, int], Axes] = {}
        lefts: dict[tuple[int, int], Axes] = {}
        meshes: dict[int, ScalarMappable] = {}
        every = itertools.product(enumerate(self.columns), enumerate(self.rows), range(across))
        for (number, column), (row, panels), place in every:
            (group, beside_it), panel = divmod(number, beside), panels[place]
            first = firsts.get((row, place)) if panel.share == "columns" else None
            if panel.share == "left":
                first = lefts[number, row]
            slot = slots[group * len(self.rows) + row, beside_it * across + place]
            axes = figure.add_subplot(
                slot, sharey=first, label=" ".join(filter(None, (column, panel.name, *panel.of)))
            )
            firsts.setdefault((row, place), axes)
            lefts[number, row] = axes
            mesh = panel.draw(axes, column, *panel.of)
            if mesh is not None:
                meshes[row] = mesh
            title = wrapped(self.title(column), width / beside, TITLE) if row == place == 0 else ""
            if any(each.title for each in panels) and row == 0:
                title = f"{title}\n{panel.title}"
            if title:
                own = axes.get_title()
                axes.set_title(f"{title}\n{own}" if own else title, loc=self.align)
            if panel.x is not None:
                axes.set(xlabel=panel.x, ylabel=panel.y if beside_it == 0 else "")
            if panel.x == "":
                axes.tick_params(labelbottom=False)
            if panel.share == "left" or (panel.share and beside_it):
                axes.tick_params(labelleft=False)
        for number, bar in enumerate(below):
            axes = figure.add_subplot(slots[len(heights) + number, :])
            bar.draw(figure, meshes[bars.index(bar)], axes, "horizontal")
        for shared, stretch in itertools.groupby(range(len(bars)), key=bars.__getitem__):
            some = [row for row in stretch if row in meshes]
            for group in range(groups if some and shared and not shared.below else 0):
                ends = (group * len(bars) + row for row in (some[0], some[-1] + 1))
                axes = figure.add_subplot(slots[slice(*ends), -1])
                cast(Bar, shared).draw(figure, meshes[some[0]], axes, "vertical")
        if self.headline:
            figure.suptitle(wrapped(self.headline, width, TITLE), x=0.01, ha="left")


def rows(
    draw: Callable[..., ScalarMappable | None],
    names: Sequence[str] | Mapping[str, str],
    x: str,
    y: str = "{}",
    *,
    share: Literal["", "columns", "left"] = "columns",
    **look: Any,  # noqa: ANN401 - see `Panel`
) -> list[list[Panel]]:
    """Panels below each other, which have the x axis in common.

    Args:
        draw: Draws each, see `Panel`.
        names: What they are of; or what these are called.
        x: Label of the x axis.
        y: Labels of the y axes, with ``{}`` for the name.
        share: See `Panel`.
        look: Further arguments of `Panel`.
    """
    called = names if isinstance(names, Mapping) else {name: name for name in names}
    last = list(called)[-1]
    return [
        [Panel(draw, "", (name,), x=x * (name == last), y=y.format(label), share=share, **look)]
        for name, label in called.items()
    ]


def page(
    sources: Sources,
    headline: str,
    *grids: Grid | Panel | Sequence[Sequence[Panel]],
    legend: Mapping[str, Entry] | None = None,
    width: float | None = None,
    what: str = "",
    note: str = "",
    averaged: bool = False,
    **of_grid: Any,  # noqa: ANN401 - see `Grid`
) -> Figure:
    """Draw a figure of one grid of panels, or of several below each other.

    Tasks that fine-tuned models have not learned are marked, if an input of the figure names them,
    or left out of means.

    Args:
        sources: Inputs of the figure, for its tasks and its label.
        headline: What was found, in a sentence.
        grids: The panels; those that every task has may be given as they are.
        legend: What to name above them: properties of a line or mark, a colour, or an artist.
        width: Width in inches; else a column of the paper for one or two tasks, or both.
        what: What is drawn, in small type below the headline.
        note: Further words for the small print.
        averaged: Whether means over `Sources.averaged` are drawn, instead of tasks.
        of_grid: Further arguments of `Grid` for panels that are given as they are.
    """
    found = [
        each
        if isinstance(each, Grid)
        else Grid(sources.tasks, each, **{"title": sources.marked, **of_grid})
        for each in grids
    ]
    beside = max(blocks(len(grid.columns), grid.most)[1] for grid in found)
    width = width or width_for(beside)
    legend = legend or {}
    label = wrapped(sources.label + note + _note_on_unlearned(sources, averaged=averaged), width)
    header = Header(headline, what, legend, width)
    heights = [header.height, *(grid.height(width) for grid in found)]
    with style():
        figure = new_figure(width, sum(heights) + len(label.splitlines()) * _LINE + 0.05)
        parts: Any = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)
        header.fill(parts[0, 0])
        for part, grid in zip(parts[1:, 0], found, strict=True):
            grid.fill(part, width)
        label_run(figure, label)
    return figure


def _note_on_unlearned(sources: Sources, *, averaged: bool) -> str:
    """A line of small print about tasks that fine-tuned models have not learned, if there are any.

    If no task was learned, means are of all, and the headline says so.
    """
    if not averaged:
        return f"\n{NOTE}" if sources.unlearned else ""
    missing = [task for task in sources.tasks if task not in sources.averaged]
    return f"\n{listed(missing)} {LEFT_OUT}" if missing else ""
