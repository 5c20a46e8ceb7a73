"""What the figures of disabled heads and layers share (section 4.6): panels, scales, baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from darksecrets.data.tasks import TASKS
from darksecrets.finetuning.table1 import METRICS
from darksecrets.plotting.style import (
    BASELINE,
    COLUMN,
    INK,
    PAGE,
    SMALL,
    blocks,
    check_columns,
    heatmap,
    label_run,
    new_figure,
    style,
)
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec
    from numpy.typing import NDArray

    # Draws the rows of a task into its place.
    Panel = Callable[[Figure, SubplotSpec, str, pd.DataFrame], None]

STATE = "finetuned"
"""The state whose heads the paper disables."""


def rows_of(table: pd.DataFrame, task: str, columns: list[str], name: str) -> pd.DataFrame:
    """Rows of a task's fine-tuned models, for the first of its metrics.

    Raises:
        InputError: When columns or rows are missing.
    """
    check_columns(table, ["task", "state", "seed", "metric", *columns], name)
    metric = TASKS[task].metrics[0]
    chosen = (table["task"] == task) & (table["state"] == STATE) & (table["metric"] == metric)
    if not chosen.any():
        raise InputError(
            f"The table {name} has no {metric} of {STATE} models for {task}. Make the table again."
        )
    return table[chosen]


def title(task: str) -> str:
    """A task and the score that is drawn."""
    return f"{task} ({METRICS[TASKS[task].metrics[0]]})"


def panel_figure(
    tables: Mapping[str, pd.DataFrame],
    draw: Panel,
    legend: Callable[[Figure, int], None],
    run_label: str,
    *,
    height: Callable[[float], float] = lambda width: 0.55 + 0.6 * width,
) -> Figure:
    """A figure of one panel per task, with a legend above and the run's label below.

    Args:
        tables: Rows of every task, in the order in which they are drawn.
        draw: Draws one panel.
        legend: Adds the legend to the figure; gets the number of panels beside each other.
        run_label: The run, its model and its data in a few words.
        height: Height of a panel of a width, in inches.
    """
    rows, beside = blocks(len(tables))
    width = COLUMN if beside <= 2 else PAGE
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
    what: str = "heads",
    ratio: float = 12,
    **of_heatmap: Any,  # noqa: ANN401 - see `heatmap`
) -> tuple[Axes, Axes, QuadMesh]:
    """A heatmap of a task, [layer, head], and beside it axes for its colour bar.

    Args:
        figure: Where to draw.
        slot: The panel's place.
        task: The task.
        values: What to draw.
        what: Layers or heads, for the axes' label.
        ratio: How much wider the heatmap is than the bar.
        of_heatmap: Colours and their ends, see `darksecrets.plotting.style.heatmap`.

    Returns:
        Axes of the heatmap, axes of the bar, and the heatmap.
    """
    inner = GridSpecFromSubplotSpec(1, 2, slot, width_ratios=[ratio, 1], wspace=0.0)
    axes = figure.add_subplot(inner[0, 0], label=f"{task} {what}")
    mesh = heatmap(axes, values, **of_heatmap)
    axes.set_title(title(task))
    if not slot.is_first_col():
        axes.set_ylabel("")
    return axes, figure.add_subplot(inner[0, 1], label=f"{task} bar"), mesh


def limits(scores: NDArray[np.float64], baseline: float) -> tuple[float, float]:
    """Ends of a colour scale that holds all scores and the baseline, never equal."""
    low, high = float(min(scores.min(), baseline)), float(max(scores.max(), baseline))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def score_bar(figure: Figure, axes: Axes, mesh: QuadMesh, baseline: float) -> None:
    """Colour bar of one panel, the baseline marked on it as the paper does, its value above."""
    bar = figure.colorbar(mesh, cax=axes)
    bar.outline.set_visible(False)  # type: ignore[operator]
    axes.axhline(baseline, color=BASELINE, linewidth=2)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.tick_params(length=0, labelsize=SMALL)
    axes.set_title(f"{baseline:.1f}", fontsize=SMALL, color=INK)


def legend(figure: Figure, what: str) -> None:
    """Say above the panels what colours and the line mean."""
    line = Line2D([], [], color=BASELINE, linewidth=2)
    label = f"no {what} disabled (value above the bar); darker = greater score"
    figure.legend([line], [label], loc="outside upper center", handlelength=1.2)
