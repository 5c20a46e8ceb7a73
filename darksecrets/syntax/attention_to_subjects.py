"""How much verbs attend to their subjects, beside other nouns, by layer (Lin et al. 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import layer_lines
from darksecrets.plotting.style import (
    BASELINE,
    COLUMN,
    GREY,
    INK,
    MARK,
    blocks,
    check_columns,
    label_run,
    new_figure,
    style,
)
from darksecrets.syntax.tables import ANY, DISTRACTORS, MANY

_TITLES = {ANY: "any others", "1": "1 other", "2": "2 others", MANY: f"{MANY} others"}
"""Titles of the panels, by the number of other nouns before the verb."""
_SUBJECT: dict[str, Any] = {"color": MARK, "marker": "o"}
_OTHERS: dict[str, dict[str, Any]] = {
    "nearest": {
        **{"color": INK, "marker": "<", "linestyle": "--", "linewidth": 0.7},
        **{"markerfacecolor": "none", "markersize": 5.5, "markeredgewidth": 0.7},
    },
    "random": {"color": GREY, "marker": "x", "linestyle": ":", "linewidth": 0.8},
}
"""Lines of the controls that differ between layers. The nearest noun is often the subject: hollow
markers show both."""
_EQUAL: dict[str, Any] = {"color": BASELINE, "linewidth": 1.2}
_LABELS = ("subject", "nearest noun", "subject, random weights", "equal parts")


def attention_to_subjects(table: pd.DataFrame, run_label: str) -> Figure:
    """Draw the share of a verb's weight that its subject gets, a panel per number of other nouns.

    Args:
        table: `distractors.csv`; without rows, the figure says so.
        run_label: The run, its model and its treebank in a few words, for the small print.

    Raises:
        InputError: Columns are missing.
    """
    values = ["share", "share_low", "share_high", "uniform", *_OTHERS]
    check_columns(table, ["state", "distractors", "layer", "verbs", *values], DISTRACTORS.file)
    rows = table[(table["state"] == "pretrained") & table["layer"].notna()]
    shown = [count for count in _TITLES if (rows["distractors"] == count).any()]
    with style():
        groups, beside = blocks(max(1, len(shown)), 2)
        figure = new_figure(COLUMN, 0.75 + 1.3 * groups)
        panels = figure.subplots(groups, beside, sharex=True, sharey=True, squeeze=False)
        for axes, count in zip(panels.ravel(), shown, strict=False):
            _panel(axes, rows[rows["distractors"] == count], count)
            axes.label_outer()
        for axes in panels.ravel()[len(shown) :]:
            axes.remove() if shown else _say_none(axes)
        if shown:
            highest = float(np.nanmax(rows[["share_high", "share", *_OTHERS]].to_numpy()))
            panels[0, 0].set_ylim(0, min(1.0, 1.1 * highest))
            figure.supylabel("Share of the weight to nouns", fontsize="medium")
        looks = [_SUBJECT, *_OTHERS.values(), _EQUAL]
        lines = [Line2D([], [], **look) for look in looks]
        figure.legend(lines, _LABELS, loc="outside upper left", ncols=2)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return attention_to_subjects(sources.table(DISTRACTORS), sources.label)


def _panel(axes: Axes, rows: pd.DataFrame, count: str) -> None:
    """Verbs with so many other nouns before them."""
    layer_lines(axes, rows, {count: _SUBJECT}, by="distractors", value="share")
    layers = rows["layer"].to_numpy(dtype=int)
    for name, look in _OTHERS.items():
        axes.plot(layers, rows[name], **look)
    axes.axhline(float(rows["uniform"].iloc[0]), zorder=1, **_EQUAL)
    axes.set_title(f"{_TITLES[count]} (n = {int(rows['verbs'].iloc[0])})", loc="left")
    axes.set_xlabel("Layer")


def _say_none(axes: Axes) -> None:
    """Fill the panel if no verb has distractors."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    text = "No verb follows its subject and another noun."
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY)
