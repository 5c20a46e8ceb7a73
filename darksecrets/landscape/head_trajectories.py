"""Heads during fine-tuning: what their maps are at every snapshot, a line per layer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from darksecrets.ablation.panels import STATE
from darksecrets.landscape.trajectory_tables import HEAD_TRAJECTORIES, LAYER_HALFWAY
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import MOST
from darksecrets.plotting.style import (
    BASELINE,
    INK,
    SMALL,
    blocks,
    label_run,
    new_figure,
    style,
    ticks,
    width_for,
    wrapped,
)

ROWS: Mapping[str, str] = {
    "cosine_to_start": "Cosine\nto start",
    "cosine_to_end": "Cosine\nto end",
    "progress": "Progress",
    "entropy": "Entropy\n(nats)",
    "sharpness": "Largest\nweight",
    "special": "[CLS] and\n[SEP]",
    "same_pattern": "Pattern as\nat start (%)",
}
"""Rows of panels from the top, by column of the table, with the label of their axis."""

_MAP, _PALEST = "viridis_r", 0.12
_HEIGHT = 0.72  # of a panel, in inches
_PARTS = 4  # between marks of the axis of steps

_HALF: dict[str, Any] = {"marker": "o", "markersize": 3.4, "markeredgecolor": "white"}
_HALF |= {"markeredgewidth": 0.5, "linestyle": "none"}
_WEIGHTS: dict[str, Any] = {"color": BASELINE, "linewidth": 1.2}


def head_trajectories(
    table: pd.DataFrame, halfway: pd.DataFrame, tasks: Sequence[str], run_label: str
) -> Figure:
    """Draw a column of panels per task: means over the heads of each layer against the step.

    Lines are means over heads and seeds of the fine-tuned models, darker = higher layer. Steps have
    a square-root scale, as snapshots are denser at the beginning. On the progress, a dot marks half
    of each layer's way, and the orange line half of the way of all weights.

    Args:
        table: `head_trajectories.csv`.
        halfway: `layer_halfway.csv`.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.
    """
    rows = table[(table["state"] == STATE) & table["task"].isin(tasks)]
    rows = rows.assign(special=rows["first"] + rows["separators"])
    halves = halfway[halfway["state"] == STATE]
    groups, beside = blocks(len(tasks), MOST)
    width, layers = width_for(beside), int(rows["layer"].max())
    with style():
        figure = new_figure(width, 0.75 + groups * (0.35 + _HEIGHT * len(ROWS)))
        axes = figure.subplots(len(ROWS) * groups, beside, sharex="col", squeeze=False)
        for number, (row, column) in itertools.product(range(len(tasks)), enumerate(ROWS)):
            group, place = divmod(number, beside)
            panel, task = axes[len(ROWS) * group + row, place], tasks[number]
            panel.set_label(f"{column} {task}")
            own = halves[halves["task"] == task]
            _panel(panel, rows[rows["task"] == task], column, own)
            panel.set_title("" if row else wrapped(task, width / beside))
            panel.set(xlabel="Step" if row == len(ROWS) - 1 else "")
            panel.set_ylabel("" if place else ROWS[column])
        for panel in axes.ravel():
            if not panel.lines:
                panel.remove()
        _legend(figure, layers, [each for each in axes.ravel() if each.lines])
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    tables = sources.table(HEAD_TRAJECTORIES), sources.table(LAYER_HALFWAY, "halfway")
    return head_trajectories(*tables, sources.tasks, sources.label)


def _panel(axes: Axes, rows: pd.DataFrame, column: str, halfway: pd.DataFrame) -> None:
    """One measure on one task: a line per layer."""
    means = rows.groupby(["layer", "step"])[column].mean().unstack("layer")
    layers, last = int(rows["layer"].max()), int(rows["step"].max())
    for layer, values in means.items():
        axes.plot(values, color=_colour(int(str(layer)), layers), linewidth=1)
    if column == "progress":
        axes.axvline(float(halfway["weights_halfway"].mean()) / 100 * last, zorder=0, **_WEIGHTS)
        for layer, share in zip(halfway["layer"], halfway["halfway"], strict=True):
            axes.plot(share / 100 * last, 0.5, color=_colour(int(layer), layers), **_HALF)
        axes.set_ylim(min(-0.1, float(means.min().min())), max(1.1, float(means.max().max())))
    axes.set_xscale("function", functions=(_root, np.square))
    axes.set_xlim(0, last)
    marks = sorted({round(last * (part / _PARTS) ** 2) for part in range(_PARTS + 1)})
    axes.set_xticks(marks, [f"{step:,}" for step in marks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(3))


def _root(steps: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Square roots; limits of axes may be below 0."""
    roots: npt.NDArray[np.float64] = np.sqrt(np.maximum(steps, 0))
    return roots


def _colour(layer: int, layers: int) -> tuple[float, float, float, float]:
    share = (layer - 1) / max(1, layers - 1)
    red, green, blue, opacity = mpl.colormaps[_MAP](_PALEST + (1 - _PALEST) * share)
    return float(red), float(green), float(blue), float(opacity)


def _legend(figure: Figure, layers: int, axes: list[Axes]) -> None:
    entries = {
        "half of a layer's way": Line2D([], [], color=INK, **_HALF),
        "half of the way of all weights": Line2D([], [], **_WEIGHTS),
    }
    place: dict[str, Any] = {"loc": "outside upper center", "handlelength": 1.6}
    figure.legend(list(entries.values()), list(entries), ncols=1, **place)
    colours = ListedColormap([_colour(layer, layers) for layer in range(1, layers + 1)])
    scale = BoundaryNorm(np.arange(layers + 1) + 0.5, layers)
    look: dict[str, Any] = {"orientation": "horizontal", "location": "bottom", "aspect": 30}
    bar = figure.colorbar(ScalarMappable(scale, colours), ax=axes, shrink=0.8, pad=0.01, **look)
    bar.set_ticks(ticks(layers))
    bar.ax.tick_params(labelsize=SMALL, length=0)
    bar.set_label("Layer", fontsize=SMALL)
