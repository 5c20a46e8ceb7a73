"""Score against the share of heads removed, in several orders (Michel et al. 2019, figure 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.lines import Line2D

from darksecrets.ablation.panels import rows_of, title
from darksecrets.ablation.tables import RANDOM
from darksecrets.importance.tables import (
    ABSOLUTE,
    EXACT,
    GREEDY,
    INTEGRATED,
    PRUNING_CURVES,
    REVERSED,
    SIGNED,
)
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import GREY, INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_LOOKS: dict[str, dict[str, Any]] = {
    RANDOM: {"color": GREY, "marker": "s"},
    ABSOLUTE: {"color": "#0072B2", "marker": "o"},
    SIGNED: {"color": "#56B4E9", "marker": "v"},
    INTEGRATED: {"color": "#CC79A7", "marker": "D"},
    EXACT: {"color": "#009E73", "marker": "P"},
    GREEDY: {"color": "#D55E00", "marker": "^"},
    REVERSED: {"color": INK, "marker": "x", "linestyle": "-."},
}
"""Orders that are drawn; those of released code are in the table."""
_BANDS = (RANDOM, GREEDY)
_INTACT: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": "--"}
_CHANCE: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": ":"}
_COLUMNS = ["order", "share", "baseline", "score", "ci_low", "ci_high", "chance"]


def pruning_curves(table: pd.DataFrame, tasks: Mapping[str, str], run_label: str) -> Figure:
    """Draw the score of every task against the share of removed heads, for each order.

    Bands, of random orders and the greedy one, are 95 % intervals of the difference to the intact
    model, drawn around its score. Scores and ends of intervals are averaged over seeds.

    Args:
        table: `pruning_curves.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns or tasks are missing.
    """
    tables = {
        task: rows_of(table, task, metric, _COLUMNS, "pruning_curves.csv")
        for task, metric in tasks.items()
    }
    return panel_figure(
        *(tables, _panel, _legend, run_label), height=lambda width: 0.45 + 0.75 * width
    )


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    tasks = {task: sources.main_metrics[task] for task in sources.tasks}
    return pruning_curves(sources.table(PRUNING_CURVES), tasks, sources.label)


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    axes = figure.add_subplot(slot, label=task)
    rows = rows.assign(
        percent=100 * rows["share"],
        low=rows["baseline"] + rows["ci_low"],
        high=rows["baseline"] + rows["ci_high"],
    )
    axes.axhline(rows["baseline"].mean(), label="intact", zorder=1, **_INTACT)
    axes.axhline(rows["chance"].mean(), label="chance", zorder=1, **_CHANCE)
    for order, look in _LOOKS.items():
        drawn = rows[rows["order"] == order].groupby("percent")[["score", "low", "high"]].mean()
        if order in _BANDS:
            ends = drawn["low"], drawn["high"]
            axes.fill_between(drawn.index, *ends, color=look["color"], alpha=0.15, linewidth=0)
        axes.plot(drawn.index, drawn["score"], label=order, linewidth=0.8, **look)
    axes.set_title(title(rows))
    axes.set_xlim(0, 100)
    if slot.is_first_col():
        axes.set_ylabel("Score")
    if slot.is_last_row():
        axes.set_xlabel("Heads removed (%)")


def _legend(figure: Figure, columns: int) -> None:
    entries = {
        ("at random" if name == RANDOM else name): Line2D([], [], linewidth=0.8, **look)
        for name, look in _LOOKS.items()
    }
    entries |= {"intact model": Line2D([], [], **_INTACT)}
    entries |= {"most frequent label": Line2D([], [], **_CHANCE)}
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside upper center",
        ncols={1: 2, 2: 3}.get(columns, 5),
        handlelength=1.8,
        columnspacing=1,
    )
