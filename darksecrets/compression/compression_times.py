"""What compressed models retain of the score against the time that they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.lines import Line2D

from darksecrets.compression import points
from darksecrets.compression.tables import (
    BATCH,
    COMPRESSION,
    COMPRESSION_TIMES,
    PUBLISHED,
    RANDOM,
    SINGLE,
)
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import GREY, check_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_MARKS = {
    "in a batch": Line2D([], [], color=GREY, marker="h", linestyle="none", markersize=4),
    "one example": Line2D(
        *([], []), color=GREY, marker="h", linestyle="none", markersize=4, markerfacecolor="white"
    ),
}
_COLUMNS = ["task", "seed", "method", "amount", "inputs", "speedup", "ci_low", "ci_high"]


def compression_times(
    table: pd.DataFrame,
    times: pd.DataFrame,
    published: pd.DataFrame,
    tasks: Mapping[str, str],
    run_label: str,
) -> Figure:
    """Draw the share of the score that every compressed model retains against its time.

    Args:
        table: `compression.csv`.
        times: `compression_times.csv`.
        published: The published table.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: Columns or tasks are missing.
    """

    def panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
        axes = figure.add_subplot(slot, label=task)
        for name in (SINGLE, BATCH):
            part = with_times(rows, times[times["task"] == task], name)
            points.draw_points(axes, part, "time", filled=name == BATCH, ends=name == BATCH)
        points.draw_rest(axes, part, "time", published, "speedup")
        axes.set_title(points.title(task, tasks[task]))
        if slot.is_first_col():
            axes.set_ylabel("Score retained (%)")
        if slot.is_last_row():
            axes.set_xlabel("Time (% of the whole model's)")

    check_columns(times, _COLUMNS, "compression_times.csv")
    rows = {task: points.rows_of(table, task, metric) for task, metric in tasks.items()}
    return panel_figure(
        *(rows, panel, points.legend(_MARKS), run_label), height=lambda width: 0.6 + 0.75 * width
    )


def with_times(rows: pd.DataFrame, times: pd.DataFrame, inputs: str) -> pd.DataFrame:
    """Rows with their time in percent of the whole model's, and its interval; means over seeds.

    Args:
        rows: From `points.rows_of`.
        times: Rows of ``compression_times`` of the task.
        inputs: What was timed.

    Returns:
        The rows of timed models, and that of random weights without a time.
    """
    part = times[times["inputs"] == inputs]
    share = part.assign(
        time=100 / part["speedup"], time_low=100 / part["ci_high"], time_high=100 / part["ci_low"]
    )
    means = share.groupby(["method", "amount"])[["time", "time_low", "time_high"]].mean()
    joined = rows.merge(means.reset_index(), on=["method", "amount"], how="left")
    return joined[joined["time"].notna() | (joined["method"] == RANDOM)]


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return compression_times(
        sources.table(COMPRESSION),
        sources.table(COMPRESSION_TIMES, "times"),
        sources.table(PUBLISHED, "published"),
        sources.main_metrics,
        sources.label,
    )
