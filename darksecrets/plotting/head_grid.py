"""Grids of heatmaps, layers × heads, with tasks as columns, as in Figure 6."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from darksecrets.plotting.style import (
    COLUMN,
    GREY,
    MARK,
    PAGE,
    SMALL,
    UNKNOWN,
    WEIGHT,
    blocks,
    colour_bar,
    grid,
    heatmap,
    label_run,
    mark_heads,
    new_figure,
    style,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.gridspec import GridSpec
    from numpy.typing import NDArray

MOST = 8  # tasks side by side
DIFFERENCE = "PuOr"
"""Colour-blind-safe colour map for differences: white = none, both ends dark."""


@dataclass(frozen=True)
class Row:
    """One row of a figure.

    Attributes:
        name: Label at the left.
        maps: [layer, head] for every task; NaN for a head without a value, None for a task.
        scale: Label of the colour bar at the right.
        cmap: Colour map; that of differences is centred on 0.
        limit: Value of the darkest colour.
        notes: Short notes under the heatmaps of some tasks.
        marks: [layer, head] for some tasks: which heads get a dot.
        reference: A value that is marked on the colour bar, such as that of uniform attention.
    """

    name: str
    maps: Mapping[str, NDArray[np.float64] | None]
    scale: str
    limit: float
    cmap: str = WEIGHT
    notes: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    reference: float | None = None

    @property
    def colours(self) -> tuple[str, str, float, float | None]:
        """What rows must have in common to share a colour bar."""
        return self.scale, self.cmap, self.limit, self.reference


def head_grid(
    rows: Sequence[Row], tasks: Sequence[str], run_label: str, *, title: str = ""
) -> Figure:
    """Draw rows of heatmaps with colour bars; tasks are columns, layer 1 is at the top.

    Neighbouring rows with the same scale share a bar. All rows are repeated for every `MOST` tasks.

    Args:
        rows: What to draw.
        tasks: The tasks, in this order.
        run_label: The run, its model and its data in a few words, for the small print.
        title: What all rows show, above them.
    """
    width = COLUMN if len(tasks) <= 3 else PAGE
    groups, beside = blocks(len(tasks), MOST)
    with style():
        figure = new_figure(width, 0.95 * len(rows) * groups + (0.65 if title else 0.45))
        ratios = [1.0] * beside + [0.07]
        slots = figure.add_gridspec(len(rows) * groups, beside + 1, width_ratios=ratios)
        meshes = []
        for number, (group, row) in enumerate(itertools.product(range(groups), rows)):
            some = tasks[group * beside : (group + 1) * beside]
            ends = {"first": row is rows[0], "last": row is rows[-1]}
            meshes.append(_draw_row(figure, slots, number, row, some, **ends))
        for group in range(groups):
            of_group = meshes[group * len(rows) : (group + 1) * len(rows)]
            _draw_bars(figure, slots, group * len(rows), rows, of_group)
        if title:
            figure.suptitle(wrapped(title, width), fontsize="medium")
        label_run(figure, run_label)
    return figure


def _draw_bars(
    figure: Figure,
    slots: GridSpec,
    first: int,
    rows: Sequence[Row],
    meshes: Sequence[QuadMesh | None],
) -> None:
    """Draw a colour bar beside every stretch of rows that have the same scale."""
    drawn = zip(itertools.count(first), rows, meshes, strict=False)
    for _, stretch in itertools.groupby(drawn, key=lambda each: each[1].colours):
        numbers, of_scale, of_rows = zip(*stretch, strict=True)
        mesh = next((mesh for mesh in of_rows if mesh is not None), None)
        if mesh is None:
            continue
        row = of_scale[0]
        place = slots[numbers[0] : numbers[-1] + 1, -1]
        beside = figure.add_subplot(place, label=f"{row.name} colour bar")
        colour_bar(figure, mesh, cax=beside).set_label(row.scale, fontsize=SMALL)
        beside.tick_params(labelsize=SMALL)
        if row.reference is not None:
            beside.axhline(row.reference, color=MARK, linewidth=1.5)


def _draw_row(
    figure: Figure,
    slots: GridSpec,
    number: int,
    row: Row,
    tasks: Sequence[str],
    *,
    first: bool,
    last: bool,
) -> QuadMesh | None:
    """Draw the heatmaps of a row; returns one of them, None if no task has values."""
    low = -row.limit if row.cmap == DIFFERENCE else 0
    mesh = None
    for column, task in enumerate(tasks):
        axes = figure.add_subplot(slots[number, column], label=f"{row.name} {task}")
        values = row.maps[task]
        if values is None:
            _say_none(axes)
        else:
            axes.set_facecolor(UNKNOWN)
            mesh = heatmap(axes, values, cmap=row.cmap, vmin=low, vmax=row.limit, labels=6)
            if task in row.marks:
                mark_heads(axes, row.marks[task])
            if not last:
                axes.set_xticks([])  # their labels are not drawn, but take much time
            if column > 0:
                axes.set_yticks([])
        if first:
            axes.set_title(wrapped(task, figure.get_figwidth() / slots.ncols))
        axes.set_ylabel(f"{row.name}\nLayer" if column == 0 else "")
        axes.tick_params(labelleft=column == 0, labelbottom=last, labelsize=SMALL)
        below = [row.notes.get(task, "")] * bool(row.notes) + ["Head"] * last
        axes.set_xlabel("\n".join(below), fontsize=SMALL if row.notes else None)
    return mesh


def _say_none(axes: Axes) -> None:
    """Fill the panel of a task that has no tokens of this kind."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    style_of = {"ha": "center", "va": "center", "color": GREY}
    axes.text(0.5, 0.5, "none", transform=axes.transAxes, **style_of)  # type: ignore[arg-type]


def maps_of(
    table: pd.DataFrame, tasks: Sequence[str], value: str
) -> dict[str, NDArray[np.float64] | None]:
    """[layer, head] for every task, averaged over seeds; None for a task without rows."""
    return {
        task: None if rows.empty else grid(rows, value)
        for task in tasks
        for rows in [table[table["task"] == task]]
    }


def subtract(
    first: Mapping[str, NDArray[np.float64] | None],
    second: Mapping[str, NDArray[np.float64] | None],
) -> dict[str, NDArray[np.float64] | None]:
    """Difference of each task's heatmaps; None where one is missing."""
    return {
        task: None if one is None or other is None else one - other
        for task, one in first.items()
        for other in [second[task]]
    }


def divide(
    first: Mapping[str, NDArray[np.float64] | None],
    second: Mapping[str, NDArray[np.float64] | None],
) -> dict[str, NDArray[np.float64] | None]:
    """Ratio of each task's heatmaps, NaN where the second is 0; None where one is missing."""
    return {
        task: None if one is None or other is None else one / np.where(other > 0, other, np.nan)
        for task, one in first.items()
        for other in [second[task]]
    }


def only_where(
    maps: Mapping[str, NDArray[np.float64] | None], counts: Mapping[str, NDArray[np.float64] | None]
) -> dict[str, NDArray[np.float64] | None]:
    """Each task's heatmap with NaN, which is drawn grey, where its count is 0."""
    return {
        task: None if one is None or count is None else np.where(count > 0, one, np.nan)
        for task, one in maps.items()
        for count in [counts[task]]
    }


def largest(*maps: Mapping[str, NDArray[np.float64] | None]) -> float:
    """The largest absolute value in all heatmaps, for a shared scale; never 0. NaN are ignored."""
    found = [m for group in maps for m in group.values() if m is not None]
    return max([1e-6, *(float(np.abs(m[~np.isnan(m)]).max(initial=0)) for m in found)])
