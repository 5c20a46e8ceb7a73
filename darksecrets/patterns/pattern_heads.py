"""The most frequent pattern of every head, before and after fine-tuning (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from darksecrets.patterns.tables import PATTERN_HEADS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    INK,
    PAGE,
    PATTERNS,
    SMALL,
    check_columns,
    grid,
    label_run,
    new_figure,
    style,
    ticks,
)
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecFromSubplotSpec

STATES = ("pretrained", "finetuned")
LETTERS = dict(zip(PATTERNS, "VD+BH", strict=True))
"""What is written on the square of every pattern."""

_CELL = 0.11  # inches between two heads: room for a letter
_MARGIN = 0.35  # inches of a panel that are not heads
_FULL = 0.94  # side of the square of a head with one pattern, in cells
_LEGEND = (0.3, 0.6, 1.0)  # shares whose sizes the legend shows
_DARK = "vertical"  # the only colour dark enough for white letters


def pattern_heads(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw a square per head with the letter and colour of its most frequent pattern.

    The area of the square is that pattern's share of the head's maps: a head with one pattern fills
    its cell.

    Args:
        table: Columns ``task``, ``state``, ``layer``, ``head`` (from 1), ``pattern``, ``share``;
            several seeds are averaged.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, tasks, layers or heads are missing.
    """
    check_columns(
        table, ["task", "state", "layer", "head", "pattern", "share"], "pattern_heads.csv"
    )
    shares = {task: [_shares(table, task, state) for state in STATES] for task in tasks}
    layers, heads = shares[tasks[0]][0].shape[1:]
    room = PAGE / len(STATES) / (max(heads, 4) * _CELL + _MARGIN)
    columns = max(1, min(len(tasks), int(room)))  # tasks side by side
    rows = -(-len(tasks) // columns)
    with style():
        cell = min(1.4 * _CELL, (PAGE / len(STATES) / columns - _MARGIN) / heads)
        figure = new_figure(PAGE, rows * (layers * cell + 0.58) + 0.5)
        slots = figure.add_gridspec(rows, columns)
        for number, (task, of_states) in enumerate(shares.items()):
            slot = slots[number // columns, number % columns]
            _task(figure, slot.subgridspec(1, len(STATES)), task, of_states)
        _legend(figure, cell)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return pattern_heads(sources.table(PATTERN_HEADS), sources.tasks, sources.label)


def _shares(table: pd.DataFrame, task: str, state: str) -> npt.NDArray[np.float64]:
    """[pattern, layer, head]."""
    rows = table[(table["task"] == task) & (table["state"] == state)]
    if rows.empty:
        raise InputError(
            f"The table pattern_heads.csv has no rows of {task}, {state}. Make the table again."
        )
    return np.stack([grid(rows[rows["pattern"] == name], "share") for name in PATTERNS])


def _task(
    figure: Figure,
    slots: GridSpecFromSubplotSpec,
    task: str,
    of_states: Sequence[npt.NDArray[np.float64]],
) -> None:
    """Draw the panels of a task side by side."""
    for side, (state, shares) in enumerate(zip(STATES, of_states, strict=True)):
        axes = figure.add_subplot(slots[0, side], label=f"{task} {state}")
        _panel(axes, shares)
        if side:
            axes.set_title(f"\n{state}", loc="left", fontsize=SMALL)
            axes.set(ylabel="", yticklabels=[])
        else:
            axes.set_title(f"{task}\n{state}", loc="left", fontsize=SMALL)


def _panel(axes: Axes, shares: npt.NDArray[np.float64]) -> None:
    """Draw the heads of one model: layer 1 at the top, head 1 at the left."""
    _, layers, heads = shares.shape
    names, most = list(PATTERNS), shares.max(axis=0)
    for (layer, head), number in np.ndenumerate(shares.argmax(axis=0)):
        name, side = names[number], float(_FULL * np.sqrt(most[layer, head]))
        corner = (head + 1 - side / 2, layer + 1 - side / 2)
        axes.add_patch(Rectangle(corner, side, side, color=PATTERNS[name], linewidth=0))
        axes.text(head + 1, layer + 1, LETTERS[name], **_of_letter(name))
    axes.set(xlim=(0.5, heads + 0.5), ylim=(layers + 0.5, 0.5), aspect="equal")
    axes.set(xlabel="Head", ylabel="Layer", xticks=ticks(heads, 6), yticks=ticks(layers, 6))
    axes.set_xticks(np.arange(heads + 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(layers + 1) + 0.5, minor=True)
    axes.grid(which="minor", color="0.9", linewidth=0.25)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def _of_letter(name: str) -> dict[str, Any]:
    colour = "white" if name == _DARK else INK
    return {"color": colour, "fontsize": SMALL, "ha": "center", "va": "center_baseline"}


def _legend(figure: Figure, cell: float) -> None:
    """Name the letters and colours, and show some sizes; ``cell`` is a head's side in inches."""
    entries: list[Patch | Line2D] = [
        Patch(color=colour, label=f"{LETTERS[name]}  {name}") for name, colour in PATTERNS.items()
    ]
    for share in _LEGEND:
        look = {
            "marker": "s",
            "markersize": 72 * cell * _FULL * np.sqrt(share),
            "linestyle": "none",
        }
        label = f"{share:.0%}{' of maps' if share == _LEGEND[-1] else ''}"
        entries.append(Line2D([], [], color="0.6", label=label, **look))
    figure.legend(
        handles=entries,
        loc="outside upper center",
        ncols=len(entries),
        handlelength=1,
        handletextpad=0.5,
        columnspacing=0.9,
    )
