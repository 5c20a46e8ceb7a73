"""What the heads of every layer attend to, after Clark et al. (2019); beyond section 4.4."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.features.tables import HEAD_STATISTICS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import MOST
from darksecrets.plotting.style import (
    COLUMN,
    PAGE,
    blocks,
    check_columns,
    label_run,
    new_figure,
    style,
    ticks,
    wrapped,
)
from darksecrets.run.columns import STATES_OF_FIGURES
from darksecrets.run.errors import InputError

STATISTICS: dict[str, dict[str, Any]] = {
    "[CLS]": {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    "[SEP]": {"color": "#0072B2", "marker": "s", "linestyle": "-"},
    "punctuation": {"color": "#CC79A7", "marker": "D", "linestyle": "-"},
    "previous": {"color": "#009E73", "marker": "<", "linestyle": "--"},
    "self": {"color": "#333333", "marker": "^", "linestyle": "--"},
    "next": {"color": "#E69F00", "marker": ">", "linestyle": "--"},
}
"""Line style of every share of attention."""


def head_statistics(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw the shares of attention against the layer, a row of panels per state.

    Lines are means over the heads of a layer (and over seeds), small points are heads.

    Args:
        table: Columns ``task``, ``state``, ``statistic``, ``layer``, ``head``, ``value``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, states or tasks are missing.
    """
    columns = ["task", "state", "statistic", "layer", "head", "value"]
    check_columns(table, columns, "head_statistics.csv")
    width = COLUMN if len(tasks) <= 3 else PAGE
    with style():
        groups, beside = blocks(len(tasks), MOST)
        states = len(STATES_OF_FIGURES)
        figure = new_figure(width, 0.5 + 1.35 * states * groups)
        axes = figure.subplots(states * groups, beside, sharex=True, sharey=True, squeeze=False)
        for number, row in itertools.product(range(len(tasks)), range(states)):
            group, column = divmod(number, beside)
            task, state, panel = (
                tasks[number],
                STATES_OF_FIGURES[row],
                axes[states * group + row, column],
            )
            panel.set_label(f"{state} {task}")
            _panel(panel, table[(table["task"] == task) & (table["state"] == state)])
            title = "" if row else wrapped(task, width / beside)
            panel.set(title=title, xlabel="Layer" if row == states - 1 else "")
            if column == 0:
                panel.set_ylabel(f"{state}\nShare of attention")
        for panel in axes.ravel():
            if not panel.lines:
                panel.remove()
        lines = [Line2D([], [], **look) for look in STATISTICS.values()]
        most = 3 if width == COLUMN else len(lines)
        figure.legend(lines, list(STATISTICS), loc="outside upper center", ncols=most)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return head_statistics(sources.table(HEAD_STATISTICS), sources.tasks, sources.label)


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    """One task and state: a line per share."""
    if rows.empty:
        raise InputError(
            f"The table head_statistics.csv has no rows for {axes.get_label()}. "
            "Make the table again."
        )
    for name, look in STATISTICS.items():
        part = rows[rows["statistic"] == name]
        axes.plot(part["layer"], part["value"], ".", color=look["color"], ms=1, alpha=0.4)
        mean = part.groupby("layer")["value"].mean()
        axes.plot(mean.index, mean, **look)
    axes.set_xticks(ticks(int(rows["layer"].max()), 6))
    axes.set_ylim(0, 1)
