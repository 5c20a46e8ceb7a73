"""The most frequent pattern of every head, before and after fine-tuning (section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from darksecrets.patterns.tables import PATTERN_HEADS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    PAGE,
    PATTERNS,
    blocks,
    check_columns,
    grid,
    label_run,
    new_figure,
    style,
    ticks,
    width_for,
)
from darksecrets.run.errors import InputError

STATES = ("pretrained", "finetuned")


def pattern_heads(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw a square per head in the colour of its most frequent pattern; paler = less frequent.

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
    rows, columns = blocks(len(tasks))
    width = width_for(columns)
    with style():
        figure = new_figure(width, rows * (0.53 + 0.4 * width / columns * layers / heads) + 0.45)
        slots = figure.add_gridspec(rows, columns)
        for number, (task, of_states) in enumerate(shares.items()):
            slot = slots[number // columns, number % columns].subgridspec(
                1, len(STATES), wspace=0.05
            )
            for side, (state, values) in enumerate(zip(STATES, of_states, strict=True)):
                axes = figure.add_subplot(slot[0, side], label=f"{task} {state}")
                _panel(axes, values)
                axes.set_title(f"{'' if side else task}\n{state}", loc="left", fontsize=6)
                if side:
                    axes.set(ylabel="", yticklabels=[])
        entries = [Patch(color=colour, label=name) for name, colour in PATTERNS.items()]
        figure.legend(
            handles=entries, loc="outside upper center", ncols=len(entries) if width == PAGE else 3
        )
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


def colours(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """[layer, head, channel] colours of the most frequent patterns, mixed with white.

    Args:
        shares: [pattern, layer, head], sum to 1 over patterns.
    """
    palette = np.array([to_rgb(colour) for colour in PATTERNS.values()])
    strength = shares.max(axis=0)[..., None]
    mixed: npt.NDArray[np.float64] = strength * palette[shares.argmax(axis=0)] + (1 - strength)
    return mixed


def _panel(axes: Axes, shares: npt.NDArray[np.float64]) -> None:
    _, layers, heads = shares.shape
    axes.imshow(
        colours(shares), extent=(0.5, heads + 0.5, layers + 0.5, 0.5), interpolation="nearest"
    )
    axes.set_xticks(ticks(heads, 4))
    axes.set_yticks(ticks(layers, 6))
    axes.set(xlabel="Head", ylabel="Layer")
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(1, heads) + 0.5, minor=True)
    axes.set_yticks(np.arange(1, layers) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=0.25)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
