"""What compressed models retain of the score against their size (Rogers et al. 2020, table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from darksecrets.compression import points
from darksecrets.compression.tables import COMPRESSION, PUBLISHED
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec


def compression(
    table: pd.DataFrame, published: pd.DataFrame, tasks: Mapping[str, str], run_label: str
) -> Figure:
    """Draw the share of the score that every compressed model retains against its size.

    Args:
        table: `compression.csv`.
        published: The published table.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: Columns or tasks are missing.
    """

    def panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
        axes = figure.add_subplot(slot, label=task)
        points.draw_points(axes, rows, "size")
        points.draw_rest(axes, rows, "size", published, "smaller")
        axes.set_title(points.title(task, tasks[task]))
        if slot.is_first_col():
            axes.set_ylabel("Score retained (%)")
        if slot.is_last_row():
            axes.set_xlabel("Size (% of the whole model)")

    rows = {task: points.rows_of(table, task, metric) for task, metric in tasks.items()}
    return panel_figure(rows, panel, points.legend(), run_label, height=_height)


def _height(width: float) -> float:
    return 0.5 + 0.75 * width


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    tables = sources.table(COMPRESSION), sources.table(PUBLISHED, "published")
    return compression(*tables, sources.main_metrics, sources.label)
