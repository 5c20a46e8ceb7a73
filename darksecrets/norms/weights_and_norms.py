"""How much heads attend to kinds of tokens, by weights and by norms (section 4.4).

After Figure 4 of Kobayashi et al. (2020), with shares instead of sums.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.norms.tables import FREQUENT, NORM_LEVELS, OTHER
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import layer_lines
from darksecrets.plotting.style import (
    COLUMN,
    PAGE,
    blocks,
    check_columns,
    label_run,
    new_figure,
    style,
    wrapped,
)
from darksecrets.run.columns import FIRST, PUNCTUATION, SEPARATOR, STATES_OF_FIGURES
from darksecrets.run.errors import InputError

LOOKS: dict[str, dict[str, Any]] = {
    FIRST: {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    SEPARATOR: {"color": "#0072B2", "marker": "s", "linestyle": "-"},
    PUNCTUATION: {"color": "#CC79A7", "marker": "D", "linestyle": "-"},
    FREQUENT: {"color": "#009E73", "marker": "^", "linestyle": "--"},
    OTHER: {"color": "#333333", "marker": "v", "linestyle": "--"},
}
"""Line of every kind of token; together, they get all of the weight, and all of the norm."""
NAMES = {FIRST: "[CLS]", SEPARATOR: "[SEP]", FREQUENT: "frequent words", OTHER: "other words"}
"""What the legend calls kinds whose names do not read well."""

SIDES = {"weight": "weights", "norm": "norms"}
"""The two panels of a task and state, from the left: column of the table, and title."""
_MOST = 4  # tasks in a row


def weights_and_norms(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw the share of every kind of token against the layer: weights beside norms.

    Bands are 95% intervals; several seeds are averaged.

    Args:
        table: Columns ``task``, ``state``, ``kind``, ``layer`` (rows without one are not drawn),
            ``weight``, ``norm`` and their intervals.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, states or tasks are missing.
    """
    ends = [f"{side}{end}" for side in SIDES for end in ("", "_low", "_high")]
    check_columns(table, ["task", "state", "kind", "layer", *ends], "norm_levels.csv")
    table = table[table["layer"].notna() & table["kind"].isin(LOOKS)]
    with style():
        groups, beside = blocks(len(tasks), _MOST)
        states, width = len(STATES_OF_FIGURES), COLUMN if len(tasks) <= 2 else PAGE
        figure = new_figure(width, 0.6 + 1.15 * states * groups)
        shape = states * groups, 2 * beside
        axes = figure.subplots(*shape, sharex=True, sharey=True, squeeze=False)
        axes[0, 0].set_ylim(0, min(1.0, 1.1 * float(table[[*SIDES]].to_numpy().max())))
        for number, row in itertools.product(range(len(tasks)), range(states)):
            group, column = divmod(number, beside)
            task, state = tasks[number], STATES_OF_FIGURES[row]
            rows = _rows(table, task, state)
            for place, (side, title) in enumerate(SIDES.items()):
                panel = axes[states * group + row, 2 * column + place]
                panel.set_label(f"{state} {task} {side}")
                _panel(panel, rows, side)
                name = "" if place else wrapped(task, width / beside)
                panel.set_title("" if row else f"{name}\n{title}", loc="left")
                panel.set_xlabel("Layer" if row == states - 1 else "")
                panel.tick_params(labelbottom=row == states - 1)
                if place == column == 0:
                    panel.set_ylabel(f"{state}\nShare")
        for panel in axes.ravel():
            if not panel.lines:
                panel.remove()
        lines = [Line2D([], [], **look) for look in LOOKS.values()]
        names = [NAMES.get(kind, kind) for kind in LOOKS]
        figure.legend(lines, names, loc="outside upper center", ncols=3 if width == COLUMN else 5)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return weights_and_norms(sources.table(NORM_LEVELS), sources.tasks, sources.label)


def _rows(table: pd.DataFrame, task: str, state: str) -> pd.DataFrame:
    """Means over the seeds of one task and state."""
    rows = table[(table["task"] == task) & (table["state"] == state)]
    if rows.empty:
        raise InputError(
            f"The table norm_levels.csv has no rows for {state} {task}. Make the table again."
        )
    return rows.groupby(["kind", "layer"], as_index=False).mean(numeric_only=True)


def _panel(axes: Axes, rows: pd.DataFrame, side: str) -> None:
    """One side of a task and state: a line for every kind."""
    layer_lines(axes, rows, LOOKS, by="kind", value=side)
