"""Effect of disabling each head, and which effects are significant (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from darksecrets.ablation.panels import rows_of, title
from darksecrets.ablation.tables import HEAD_ABLATION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel, panel_figure
from darksecrets.plotting.style import CHANGE, HELPED, HURT, INK, SMALL, colour_bar, grid
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

# Share of the heads that must fit in the inner half of the scale, so that a few outliers do not
# make all others pale.
_MOST = 0.75
MARKS = {
    "q_value": {"marker": "*", "markersize": 5},
    "p_value": {"marker": "o", "markersize": 2},
}
"""Markers of heads that are significant after correction, and of those only before it."""

_LABELS = (
    *("worse without the head", "better without it"),
    *("significant after correction", "only before it"),
)


def ablation_deltas(table: pd.DataFrame, tasks: Mapping[str, str], run_label: str) -> Figure:
    """Draw one heatmap of score differences per task, on a scale centred on 0.

    The score falls without an orange head and rises without a purple one. The scale ends at the
    greatest difference, or earlier if that leaves three quarters of the heads in its inner half;
    the colour bar then has arrows. With several seeds, the mean is drawn, and a head is marked
    when it is significant for more than half of them.

    Args:
        table: `head_ablation.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, tasks, layers or heads are missing.
    """
    columns = ["layer", "head", "delta", *MARKS]
    tables = {
        t: rows_of(table, t, metric, columns, "head_ablation.csv") for t, metric in tasks.items()
    }
    return panel_figure(tables, _panel, _legend, run_label)


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return ablation_deltas(sources.table(HEAD_ABLATION), sources.main_metrics, sources.label)


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
    axes, beside, mesh = panel(figure, slot, task, values, title=title(rows), **colours)
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
