"""Figures with one panel per task: layout, heatmaps with colour bars, colour scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.ticker import MaxNLocator

from darksecrets.plotting.style import (
    BASELINE,
    INK,
    SMALL,
    blocks,
    colour_bar,
    heatmap,
    label_run,
    new_figure,
    style,
    ticks,
    width_for,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec
    from numpy.typing import NDArray

    # Draws the rows of a task into its grid cell.
    Panel = Callable[[Figure, SubplotSpec, str, pd.DataFrame], None]


def panel_figure(
    tables: Mapping[str, pd.DataFrame],
    draw: Panel,
    legend: Callable[[Figure, int], None],
    run_label: str,
    *,
    height: Callable[[float], float] = lambda width: 0.55 + 0.6 * width,
) -> Figure:
    """Draw one panel per task, with a legend above and the run's label below.

    Args:
        tables: Rows of every task, in drawing order.
        draw: Draws one panel.
        legend: Adds the legend to the figure; called with the number of panels in a row.
        run_label: Short description of the run, its model and its data.
        height: Returns the height of a panel, given its width, in inches.
    """
    rows, beside = blocks(len(tables))
    width = width_for(beside)
    with style():
        figure = new_figure(width, rows * height(width / beside) + 0.4)
        slots = figure.add_gridspec(rows, beside)
        for index, (task, table) in enumerate(tables.items()):
            draw(figure, slots[index // beside, index % beside], task, table)
        legend(figure, beside)
        label_run(figure, run_label)
    return figure


def panel(
    figure: Figure,
    slot: SubplotSpec,
    task: str,
    values: NDArray[np.float64],
    *,
    title: str,
    what: str = "heads",
    ratio: float = 12,
    **of_heatmap: Any,  # noqa: ANN401 - see `heatmap`
) -> tuple[Axes, Axes, QuadMesh]:
    """Draw a heatmap, [layer, head], with axes for its colour bar beside it.

    Args:
        figure: Where to draw.
        slot: Grid cell of the panel.
        task: The task.
        values: Values to draw.
        title: Title above the heatmap.
        what: Layers or heads, for the axes' label.
        ratio: Width of the heatmap relative to the bar.
        of_heatmap: Colour map and its limits, see `darksecrets.plotting.style.heatmap`.

    Returns:
        Axes of the heatmap, axes of the bar, and the heatmap.
    """
    inner = GridSpecFromSubplotSpec(1, 2, slot, width_ratios=[ratio, 1], wspace=0.0)
    axes = figure.add_subplot(inner[0, 0], label=f"{task} {what}")
    mesh = heatmap(axes, values, **of_heatmap)
    axes.set_title(title)
    if not slot.is_first_col():
        axes.set_ylabel("")
    return axes, figure.add_subplot(inner[0, 1], label=f"{task} bar"), mesh


def layer_lines(
    axes: Axes,
    rows: pd.DataFrame,
    looks: Mapping[str, Mapping[str, Any]],
    *,
    by: str,
    value: str,
    alpha: float = 0.25,
) -> None:
    """Draw a line with its interval against the layer, for each kind of row.

    Args:
        axes: Where to draw.
        rows: Columns ``layer``, ``by``, and ``value`` with its ``_low`` and ``_high``.
        looks: Look of the line of every kind.
        by: Column with the kinds.
        value: Column to draw.
        alpha: Opacity of the intervals.
    """
    for kind, look in looks.items():
        part = rows[rows[by] == kind]
        layers = part["layer"].to_numpy(dtype=int)
        low, high = (part[f"{value}_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
        axes.fill_between(layers, low, high, color=look["color"], alpha=alpha, linewidth=0)
        axes.plot(layers, part[value], **look)
    axes.set_xticks(ticks(int(rows["layer"].max()), 6))


def limits(
    values: NDArray[np.float64], reference: float, margin: float = 0.0
) -> tuple[float, float]:
    """Limits of a colour scale that covers all values and reference ± margin; never equal."""
    low = float(min(values.min(), reference - margin))
    high = float(max(values.max(), reference + margin))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def marked_bar(figure: Figure, axes: Axes, mesh: QuadMesh, reference: float) -> None:
    """Colour bar of one panel with a reference value marked on it and written above it."""
    colour_bar(figure, mesh, cax=axes)
    axes.axhline(reference, color=BASELINE, linewidth=2)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.tick_params(labelsize=SMALL)
    axes.set_title(f"{reference:.1f}", fontsize=SMALL, color=INK, pad=4.5)
