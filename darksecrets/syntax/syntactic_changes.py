"""What fine-tuning changes for the heads that find most of a relation (after Htut et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    BASELINE,
    COLUMN,
    INK,
    MARK,
    PAGE,
    blocks,
    check_columns,
    label_run,
    new_figure,
    style,
    wrapped,
)
from darksecrets.run.errors import InputError
from darksecrets.stats import LEVEL
from darksecrets.syntax.tables import ALL, SYNTACTIC_CHANGES

_MOST = 12
"""Labels that are drawn, the most frequent ones."""
_BESIDE = 3  # tasks in a row
_LOOK_OF_OTHERS: dict[str, Any] = {
    **{"color": BASELINE, "marker": "|", "linestyle": ""},
    **{"markersize": 6, "markeredgewidth": 1.4},
}
_LOOK_OF_NEW: dict[str, Any] = {
    **{"color": INK, "marker": "x", "linestyle": ""},
    **{"markersize": 5.5, "markeredgewidth": 1},
}
_NAMED = ["direction", "layer", "head"]
_NEW = [f"best_{name}" for name in _NAMED]
_NAMES = (
    "same head, significant",
    "same head",
    "same head, unrelated words",
    "new best head",
)


def syntactic_changes(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw the change of every label's best head, with its interval: a panel per task.

    Args:
        table: `syntactic_changes.csv`.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its treebank in a few words, for the small print.

    Raises:
        InputError: Columns or tasks are missing.
    """
    values = ["change", "change_low", "change_high", "change_of_others", "best_change", "q_value"]
    check_columns(
        table, ["task", "state", "seed", "label", *_NAMED, *_NEW, *values], SYNTACTIC_CHANGES.file
    )
    labels = list(dict.fromkeys(table["label"]))[:_MOST]
    groups, beside = blocks(len(tasks), _BESIDE)
    width = COLUMN if beside == 1 else PAGE
    with style():
        figure = new_figure(width, 0.75 + groups * (0.45 + 0.17 * len(labels)))
        panels = figure.subplots(groups, beside, sharex=True, sharey=True, squeeze=False)
        for axes, task in zip(panels.ravel(), tasks, strict=False):
            _panel(axes, _rows(table, task), labels)
            axes.set_title(wrapped(task, width / beside), loc="left")
            axes.label_outer()
        for axes in panels.ravel()[len(tasks) :]:
            axes.remove()
        panels[0, 0].set_ylim(len(labels) - 0.5, -0.5)
        figure.legend(
            _handles(), _NAMES, loc="outside upper left", ncols=2, handlelength=1, columnspacing=1
        )
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return syntactic_changes(sources.table(SYNTACTIC_CHANGES), sources.tasks, sources.label)


def _rows(table: pd.DataFrame, task: str) -> pd.DataFrame:
    """Rows of one task."""
    rows = table[(table["task"] == task) & (table["state"] == "finetuned")]
    if rows.empty:
        raise InputError(
            f"The table {SYNTACTIC_CHANGES.file} has no rows of {task}. Make the table again."
        )
    return rows


def _panel(axes: Axes, rows: pd.DataFrame, labels: Sequence[str]) -> None:
    """One task: a row of dots per label, one for each seed."""
    axes.axvline(0, color=INK, linewidth=0.6, linestyle=":")
    seeds = sorted(rows["seed"].unique())
    steps = 0.5 * ((np.arange(len(seeds)) + 0.5) / len(seeds) - 0.5)
    for step, seed in zip(steps, seeds, strict=True):
        own = rows[rows["seed"] == seed].set_index("label").reindex(labels)
        places = np.arange(len(labels)) + step
        axes.hlines(places, own["change_low"], own["change_high"], color=MARK, linewidth=0.8)
        axes.plot(own["change_of_others"], places, zorder=2, **_LOOK_OF_OTHERS)
        is_new = (own[_NAMED].to_numpy() != own[_NEW].to_numpy()).any(axis=1)
        axes.plot(own["best_change"].where(is_new), places, zorder=4, **_LOOK_OF_NEW)
        for place, change, q in zip(places, own["change"], own["q_value"], strict=True):
            axes.plot(change, place, zorder=3, **_dot(changed=q < LEVEL))
    names = ["all relations" if label == ALL else label for label in labels]
    axes.set_yticks(range(len(labels)), names)
    axes.set_xlabel("Change of the share found")
    axes.grid(axis="x", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _dot(*, changed: bool) -> dict[str, Any]:
    """A dot, filled if the change is significant."""
    colour = MARK if changed else "white"
    return {"color": colour, "marker": "o", "markersize": 3.5, "markeredgecolor": MARK}


def _handles() -> list[Line2D]:
    dots = [Line2D([], [], linestyle="", **_dot(changed=changed)) for changed in (True, False)]
    return [*dots, Line2D([], [], **_LOOK_OF_OTHERS), Line2D([], [], **_LOOK_OF_NEW)]
