"""How much a change of attention to a kind of token would change the loss, by layer (section 5).

After Figure 3 of Clark et al. (2019), relative to tokens of all kinds.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.faithfulness.tables import ATTENTION_GRADIENTS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import layer_lines
from darksecrets.plotting.style import (
    COLUMN,
    INK,
    PAGE,
    blocks,
    check_columns,
    label_run,
    new_figure,
    style,
    wrapped,
)
from darksecrets.run.columns import FIRST, PUNCTUATION, RANDOM, SEPARATOR, WORD
from darksecrets.run.errors import InputError

LOOKS: dict[str, dict[str, Any]] = {
    FIRST: {"color": "#D55E00", "marker": "o"},
    SEPARATOR: {"color": "#0072B2", "marker": "s"},
    PUNCTUATION: {"color": "#CC79A7", "marker": "D"},
    WORD: {"color": "#333333", "marker": "v", "linestyle": "--"},
}
"""Line of every kind of token."""
NAMES = {FIRST: "[CLS]", SEPARATOR: "[SEP]", WORD: "words"}
DRAWN = (RANDOM, "finetuned")
_MOST = 4  # tasks in a row


def attention_gradients(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw relative gradients against the layer: a column of panels per task, a row per state.

    Bands are 95% intervals; several seeds are averaged.

    Args:
        table: Columns ``task``, ``state``, ``kind``, ``layer``, ``head`` (only rows of layers are
            drawn), ``relative`` and its interval.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, states or tasks are missing.
    """
    names = ["task", "state", "kind", "layer", "head", "relative", "relative_low", "relative_high"]
    check_columns(table, names, "attention_gradients.csv")
    table = table[table["layer"].notna() & table["head"].isna()]
    with style():
        groups, beside = blocks(len(tasks), _MOST)
        states, width = len(DRAWN), COLUMN if len(tasks) <= 2 else PAGE
        figure = new_figure(width, 0.6 + 1.15 * states * groups)
        axes = figure.subplots(states * groups, beside, sharex=True, sharey=True, squeeze=False)
        axes[0, 0].set_ylim(0, 1.05 * max(1.0, float(table["relative"].max())))
        for number, row in itertools.product(range(len(tasks)), range(states)):
            (group, column), task, state = divmod(number, beside), tasks[number], DRAWN[row]
            panel = axes[states * group + row, column]
            panel.set_label(f"{state} {task}")
            _panel(panel, _rows(table, task, state))
            panel.set_title("" if row else wrapped(task, width / beside))
            panel.set_xlabel("Layer" if row == states - 1 else "")
            panel.tick_params(labelbottom=row == states - 1)
            panel.set_ylabel("" if column else f"{state}\nRelative gradient")
        for panel in axes.ravel():
            if not panel.lines:
                panel.remove()
        lines = [Line2D([], [], **look) for look in LOOKS.values()]
        labels = [NAMES.get(kind, kind) for kind in LOOKS]
        figure.legend(lines, labels, loc="outside upper center", ncols=len(lines))
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return attention_gradients(sources.table(ATTENTION_GRADIENTS), sources.tasks, sources.label)


def _rows(table: pd.DataFrame, task: str, state: str) -> pd.DataFrame:
    """Means over the seeds of one task and state."""
    rows = table[(table["task"] == task) & (table["state"] == state)]
    if rows.empty:
        raise InputError(
            f"The table attention_gradients.csv has no rows for {state} {task}. Make the table "
            "again."
        )
    return rows.groupby(["kind", "layer"], as_index=False).mean(numeric_only=True)


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    """One task and state: a line for every kind, and one where all kinds are alike."""
    axes.axhline(1, color=INK, linestyle=":", linewidth=0.6)
    layer_lines(axes, rows, LOOKS, by="kind", value="relative")
