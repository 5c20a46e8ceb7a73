"""What the heads of every layer attend to, after Clark et al. (2019); beyond section 4.4."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from darksecrets.features.tables import HEAD_STATISTICS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import MOST
from darksecrets.plotting.style import (
    COLUMN,
    GREY,
    INK,
    SMALL,
    STATES,
    blocks,
    check_columns,
    label_run,
    new_figure,
    style,
    ticks,
    width_for,
    wrapped,
)
from darksecrets.run.columns import RANDOM, STATES_OF_FIGURES
from darksecrets.run.errors import InputError

STATISTICS = ("[CLS]", "[SEP]", "punctuation", "previous", "self", "next")
"""Shares of attention, a row of panels each, from the top."""
UNIFORM = "uniform"
"""What uniform attention would give."""

_LOOKS: dict[str, dict[str, Any]] = {
    UNIFORM: {"color": INK, "linestyle": ":", "linewidth": 0.8},
    RANDOM: {"color": GREY, "linestyle": "--", "linewidth": 0.8},
    "pretrained": {"color": STATES["pretrained"], "marker": "s", "markersize": 3.5},
    "finetuned": {"color": STATES["finetuned"], "marker": "o", "markersize": 2},
}
_HEIGHT = 0.68  # of a panel, in inches


def head_statistics(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw shares of attention against the layer: a row of panels per share, a column per task.

    Lines are means over the heads of a layer (and over seeds), small points are heads. The panels
    of a row have the same scale.

    Args:
        table: Columns ``task``, ``state``, ``statistic``, ``layer``, ``head``, ``value``,
            ``uniform``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, states or tasks are missing.
    """
    columns = ["task", "state", "statistic", "layer", "head", "value", "uniform"]
    check_columns(table, columns, "head_statistics.csv")
    groups, beside = blocks(len(tasks), MOST)
    width = width_for(beside)
    count = len(STATISTICS)
    tops = table[table["task"].isin(tasks)].groupby("statistic")["value"].max()
    with style():
        figure = new_figure(width, 0.6 + groups * (0.35 + _HEIGHT * count))
        axes = figure.subplots(count * groups, beside, sharex=True, sharey="row", squeeze=False)
        for number, row in itertools.product(range(len(tasks)), range(count)):
            (group, column), task, statistic = (
                divmod(number, beside),
                tasks[number],
                STATISTICS[row],
            )
            panel = axes[count * group + row, column]
            panel.set_label(f"{statistic} {task}")
            _panel(panel, table[(table["task"] == task) & (table["statistic"] == statistic)])
            title = "" if row else wrapped(task, width / beside)
            panel.set_ylim(0, 1.05 * tops[statistic])
            panel.set(title=title, xlabel="Layer" if row == count - 1 else "")
            panel.set_ylabel("" if column else statistic)
        for panel in axes.ravel():
            if not panel.lines:
                panel.remove()
        lines = [Line2D([], [], **look) for look in _LOOKS.values()]
        most = 2 if width == COLUMN else len(lines)
        figure.legend(lines, list(_LOOKS), loc="outside upper center", ncols=most)
        figure.supylabel("Share of attention", fontsize=SMALL)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return head_statistics(sources.table(HEAD_STATISTICS), sources.tasks, sources.label)


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    """One share on one task: a line per state, and one for uniform attention."""
    axes.plot(rows.groupby("layer")["uniform"].mean(), **_LOOKS[UNIFORM])
    for state in STATES_OF_FIGURES:
        part, look = rows[rows["state"] == state], _LOOKS[state]
        if part.empty:
            raise InputError(
                f"The table head_statistics.csv has no rows for {state} {axes.get_label()}. "
                "Make the table again."
            )
        axes.plot(part["layer"], part["value"], ".", color=look["color"], ms=1, alpha=0.4)
        axes.plot(part.groupby("layer")["value"].mean(), **look)
    axes.set_xticks(ticks(int(rows["layer"].max()), 6))
    axes.yaxis.set_major_locator(MaxNLocator(3))
