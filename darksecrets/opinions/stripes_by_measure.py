"""How strong stripes at special tokens are, by several measures of attention (section 4.4)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.features.tables import ATTENTION_LEVELS, GREATEST
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import layer_lines
from darksecrets.plotting.style import (
    COLUMN,
    GREY,
    PAGE,
    blocks,
    check_columns,
    label_run,
    new_figure,
    style,
    wrapped,
)
from darksecrets.run.columns import EFFECTIVE, MEASURE, MEASURES, NORMS, RANDOM, WEIGHTS, by_measure
from darksecrets.run.errors import InputError

LEVELS = by_measure(ATTENTION_LEVELS)
LOOKS: dict[str, dict[str, Any]] = {
    WEIGHTS: {"color": "#333333", "marker": "o", "linestyle": "-"},
    NORMS: {"color": "#0072B2", "marker": "s", "linestyle": "-"},
    EFFECTIVE: {"color": "#D55E00", "marker": "^", "linestyle": "-"},
}
"""Line of every measure."""
NAMES = {EFFECTIVE: "effective attention"}
FEATURES = ("[CLS]", "[SEP]")
_BY_CHANCE: dict[str, Any] = {"color": GREY, "linestyle": ":", "linewidth": 0.8}
_MOST = 4  # tasks in a row


def stripes_by_measure(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw the attention to [CLS] and to [SEP] against the layer, a line for every measure.

    Lines are of the fine-tuned models, means over their seeds, with 95% intervals; dotted lines are
    of an encoder with random weights, by attention weights.

    Args:
        table: The table ``attention_levels_by_measure.csv``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns or tasks are missing.
    """
    names = [
        MEASURE.name,
        "measure",
        "task",
        "state",
        "feature",
        "layer",
        "weight",
        "weight_low",
        "weight_high",
    ]
    check_columns(table, names, LEVELS.file)
    table = table[table["layer"].notna() & (table["measure"] == GREATEST)]
    table = table[table["state"].isin(["finetuned", RANDOM])]
    groups, beside = blocks(len(tasks), _MOST)
    with style():
        width = COLUMN if beside <= 2 else PAGE
        figure = new_figure(width, 0.6 + 1.15 * len(FEATURES) * groups)
        shape = len(FEATURES) * groups, beside
        axes = figure.subplots(*shape, sharex=True, sharey="row", squeeze=False)
        for number, (row, feature) in itertools.product(range(len(tasks)), enumerate(FEATURES)):
            group, column = divmod(number, beside)
            panel = axes[len(FEATURES) * group + row, column]
            panel.set_label(f"{tasks[number]} {feature}")
            _panel(panel, _rows(table, tasks[number], feature))
            panel.set_title("" if row else wrapped(tasks[number], width / beside), loc="left")
            panel.set_xlabel("Layer" if row == len(FEATURES) - 1 else "")
            panel.tick_params(labelbottom=row == len(FEATURES) - 1)
            highest = table.loc[table["feature"] == feature, "weight"].max()
            panel.set_ylim(0, 1.1 * float(highest))
            panel.set_ylabel("" if column else f"Attention to {feature}")
        for panel in axes.ravel():
            if not panel.lines:
                panel.remove()
        shown = [name for name in MEASURES if (table[MEASURE.name] == name).any()]
        lines = [Line2D([], [], **LOOKS[name]) for name in shown] + [Line2D([], [], **_BY_CHANCE)]
        labels = [*(NAMES.get(name, name) for name in shown), "random weights"]
        figure.legend(lines, labels, loc="outside upper center", ncols=2 if width == COLUMN else 4)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return stripes_by_measure(sources.table(LEVELS), sources.tasks, sources.label)


def _rows(table: pd.DataFrame, task: str, feature: str) -> pd.DataFrame:
    """Rows of the fine-tuned models, and of random weights, of one task."""
    rows = table[(table["task"] == task) & (table["feature"] == feature)]
    if rows.empty:
        raise InputError(
            f"The table {LEVELS.file} has no rows of {feature} for {task}. Make the table again."
        )
    return rows


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    """One task and special token: a line for every measure."""
    measured = rows[rows["state"] == "finetuned"]
    layer_lines(axes, measured, LOOKS, by=MEASURE.name, value="weight", alpha=0.2)
    by_chance = rows[(rows[MEASURE.name] == WEIGHTS) & (rows["state"] == RANDOM)]
    axes.plot(by_chance["layer"].to_numpy(dtype=int), by_chance["weight"], **_BY_CHANCE)
