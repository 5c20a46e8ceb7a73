"""Score against the number of heads disabled together (section 4.6, beyond the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from darksecrets.ablation.panels import STATE, rows_of, title
from darksecrets.ablation.tables import HARMLESS, JOINT_ABLATION, NEEDED, ORDERS, RANDOM
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import GREY, HELPED, HURT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_LOOKS: dict[str, dict[str, Any]] = {
    RANDOM: {"color": GREY, "marker": "s", "linestyle": "-"},
    HARMLESS: {"color": HELPED, "marker": "o", "linestyle": "-"},
    NEEDED: {"color": HURT, "marker": "^", "linestyle": "-"},
}
_INTACT: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": "--"}
_CHANCE: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": ":"}
_TICKS_APART = 1.7  # least ratio of two numbers written on the logarithmic axis
_COLUMNS = ["order", "heads", "baseline", "score", "ci_low", "ci_high", "chance"]


def joint_ablation(table: pd.DataFrame, tasks: Mapping[str, str], run_label: str) -> Figure:
    """Draw the score of every task against the number of disabled heads, for each order.

    Bands are 95 % intervals of the difference to the intact model, drawn around its score. Scores
    and ends of intervals are averaged over seeds.

    Args:
        table: `joint_ablation.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns or tasks are missing.
    """
    tables = {
        task: rows_of(table, task, metric, _COLUMNS, "joint_ablation.csv")
        for task, metric in tasks.items()
    }
    return panel_figure(
        *(tables, _panel, _legend, run_label), height=lambda width: 0.35 + 0.75 * width
    )


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables: the tasks on which heads are disabled together."""
    table = sources.table(JOINT_ABLATION)
    known = set(table.loc[table["state"] == STATE, "task"])
    tasks = {task: metric for task, metric in sources.main_metrics.items() if task in known}
    return joint_ablation(table, tasks, sources.label)


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    axes = figure.add_subplot(slot, label=task)
    rows = rows.assign(
        low=rows["baseline"] + rows["ci_low"], high=rows["baseline"] + rows["ci_high"]
    )
    axes.axhline(rows["baseline"].mean(), label="intact", zorder=1, **_INTACT)
    axes.axhline(rows["chance"].mean(), label="chance", zorder=1, **_CHANCE)
    for order in ORDERS:
        drawn = rows[rows["order"] == order].groupby("heads")[["score", "low", "high"]].mean()
        look = _LOOKS[order]
        axes.fill_between(
            *(drawn.index, drawn["low"], drawn["high"]),
            color=look["color"],
            alpha=0.18,
            linewidth=0,
        )
        axes.plot(drawn.index, drawn["score"], label=order, **look)
    axes.set_title(title(rows))
    _label(axes, sorted(rows["heads"].unique()))
    if slot.is_first_col():
        axes.set_ylabel("Score")
    if slot.is_last_row():
        axes.set_xlabel("Heads disabled together")


def _label(axes: Axes, counts: list[int]) -> None:
    """Write the numbers of heads on a logarithmic axis: the largest, and others with space."""
    written = [counts[-1]]
    for count in reversed(counts[:-1]):
        if written[-1] >= _TICKS_APART * count:
            written.append(count)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(written))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda count, _: f"{count:g}")
    axes.yaxis.set_major_locator(MaxNLocator(5))


def _legend(figure: Figure, columns: int) -> None:
    entries = {
        "at random": Line2D([], [], **_LOOKS[RANDOM]),
        HARMLESS: Line2D([], [], **_LOOKS[HARMLESS]),
        NEEDED: Line2D([], [], **_LOOKS[NEEDED]),
        "intact model": Line2D([], [], **_INTACT),
        "most frequent label": Line2D([], [], **_CHANCE),
    }
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside upper center",
        ncols=3 if columns <= 2 else len(entries),
        handlelength=1.8,
        columnspacing=1,
    )
