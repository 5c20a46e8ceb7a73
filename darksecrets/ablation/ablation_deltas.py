"""What disabling each head changes, around 0, and which changes are no chance (section 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from darksecrets.ablation.panels import rows_of, title
from darksecrets.plotting.panels import panel, panel_figure
from darksecrets.plotting.style import CHANGE, HELPED, HURT, INK, SMALL, colour_bar, grid
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_MOST = 0.75  # of the heads are enough in the scale's inner half, lest a few blanch all others
MARKS = {
    "q_value": {"marker": "*", "markersize": 5},
    "p_value": {"marker": "o", "markersize": 2},
}
"""How heads are marked that are significant after correction, and only before it."""

_LABELS = (
    *("worse without the head", "better without it"),
    *("significant after correction", "only before it"),
)


def ablation_deltas(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw one heatmap of score differences per task, on a scale centred on 0.

    Orange heads are missed, purple ones are better disabled. The scale ends at the greatest
    difference, or earlier, where three quarters of the heads lie in its inner half; the colour bar
    then shows arrows. With several seeds the mean is drawn, and a head is marked when it is
    significant for more than half of them.

    Args:
        table: `head_ablation.csv`.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, tasks, layers or heads are missing.
    """
    columns = ["layer", "head", "delta", *MARKS]
    tables = {task: rows_of(table, task, columns, "head_ablation.csv") for task in tasks}
    return panel_figure(tables, _panel, _legend, run_label)


def _legend(figure: Figure, beside: int) -> None:
    colours = [Patch(color=colour) for colour in (HURT, HELPED)]
    marks = [_mark(Line2D([], []), column) for column in MARKS]
    figure.legend(
        [*colours, *marks],
        _LABELS,
        loc="outside upper center",
        ncols=2 if beside <= 2 else 4,
        handlelength=1.2,
    )


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    values = grid(rows, "delta")
    sizes = np.abs(values)
    end = float(min(2 * np.quantile(sizes, _MOST), sizes.max()) or sizes.max()) or 1.0
    colours: dict[str, Any] = {"cmap": CHANGE, "vmin": -end, "vmax": end}
    axes, beside, mesh = panel(figure, slot, task, values, title=title(task), **colours)
    _marks(axes, rows)
    below, above = values.min() < -end, values.max() > end
    extend = "both" if below and above else "min" if below else "max" if above else "neither"
    colour_bar(figure, mesh, cax=beside, extend=extend)
    beside.yaxis.set_major_locator(MaxNLocator(4, symmetric=True))
    beside.tick_params(labelsize=SMALL)


def _marks(axes: Axes, rows: pd.DataFrame) -> None:
    """Mark every head that is significant for more than half of the seeds."""
    marked = np.zeros((rows["layer"].max(), rows["head"].max()), dtype=bool)
    for column in MARKS:
        significant = grid(rows.assign(share=(rows[column] < LEVEL).astype(float)), "share") > 0.5
        layers, heads = np.nonzero(significant & ~marked)
        marked |= significant
        _mark(axes.plot(heads + 1, layers + 1, label=column)[0], column)


def _mark(line: Line2D, column: str) -> Line2D:
    line.set(linestyle="none", markerfacecolor="white", markeredgecolor=INK, markeredgewidth=0.4)
    line.set(**MARKS[column])
    return line
