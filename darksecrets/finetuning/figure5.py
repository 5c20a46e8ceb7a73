"""Figure 5: how much fine-tuning changes the attention of every head (section 4.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from darksecrets.finetuning.tables import COSINE
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    BAND,
    INK,
    SIMILARITY,
    SMALL,
    blocks,
    check_columns,
    colour_bar,
    grid,
    heatmap,
    label_run,
    new_figure,
    style,
    width_for,
)
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.collections import QuadMesh
    from matplotlib.gridspec import SubplotSpec

MEAN: Mapping[str, Any] = MappingProxyType({"color": INK, "marker": ".", "linewidth": 0.7})
"""Style of the line of means."""
FLOORS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "other_heads": ("different heads", {"color": "#D55E00", "linewidth": 0.9, "ls": "--"}),
        "other_seed": ("two seeds", {"color": "#0072B2", "linewidth": 0.9, "ls": ":"}),
    }
)
"""Name and style of the line of every floor; the colours are Okabe and Ito's."""


STEP = 0.05
"""The colour scale begins at a multiple of this, and is at least as wide."""


def figure5(
    table: pd.DataFrame, tasks: Sequence[str], run_label: str, *, full_scale: bool = False
) -> Figure:
    """Draw a heatmap of layers × heads per task, beside it the mean and spread of each layer.

    Colours and orientation are the paper's: layer 1 at the top, darker = lower cosine = greater
    difference. All tasks share a scale, from the lowest cosine to 1. Several seeds are averaged.
    Lines beside the mean of a layer are its floors: cosines of different heads, and of two
    fine-tunings; their means are marked on the colour bar.

    Args:
        table: Columns ``task``, ``layer``, ``head`` (from 1), ``similarity``, and the floors
            ``other_heads`` and ``other_seed``, which may be empty; if there is a column ``state``,
            only rows of `finetuned` are drawn.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.
        full_scale: Begin the scale at 0, as the paper does.

    Raises:
        InputError: When columns, tasks, layers or heads are missing.
    """
    check_columns(table, ["task", "layer", "head", "similarity", *FLOORS], "cosine.csv")
    if "state" in table.columns:
        table = table[table["state"] == "finetuned"]
    of_tasks = {task: _rows(table, task) for task in tasks}
    low = 0.0 if full_scale else _start(of_tasks.values())
    rows, columns = blocks(len(tasks))
    width = width_for(columns)
    panel = 1.0 + 0.3 * width / columns  # inches; a little higher if panels are wide
    with style():
        figure = new_figure(width, rows * panel + 0.5)
        slots = figure.add_gridspec(rows + 1, columns, height_ratios=[panel] * rows + [0.06])
        for index, (task, part) in enumerate(of_tasks.items()):
            mesh = _panel(figure, slots[index // columns, index % columns], task, part, low)
        floors = _means_of_floors(of_tasks.values())
        _colour_bar(figure, slots[rows, :], mesh, floors)
        _legend(figure, list(floors))
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    full_scale = sources.options["scale"] == "full"
    return figure5(sources.table(COSINE), sources.tasks, sources.label, full_scale=full_scale)


def _rows(table: pd.DataFrame, task: str) -> pd.DataFrame:
    rows = table[table["task"] == task]
    if rows.empty:
        raise InputError(
            f"The table cosine.csv has no rows for {task}; it has"
            f" {', '.join(sorted(set(table['task']))) or 'none'}. Make the table again."
        )
    return rows


def _start(parts: Iterable[pd.DataFrame]) -> float:
    """Where the colours begin: the last multiple of `STEP` below all cosines, and below 1."""
    lowest = min(float(grid(part, "similarity").min()) for part in parts)
    return STEP * min(math.floor(lowest / STEP), round(1 / STEP) - 1)


def _means_of_floors(parts: Iterable[pd.DataFrame]) -> dict[str, float]:
    """The mean of every floor over the tasks for which it is known; none that is unknown."""
    means = pd.DataFrame([part[list(FLOORS)].mean() for part in parts]).mean()
    return {str(name): float(mean) for name, mean in means.dropna().items()}


def _panel(
    figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame, low: float
) -> QuadMesh:
    """Draw one task: the heatmap; mean ± standard deviation over a layer's heads; the floors."""
    values = grid(rows, "similarity")
    inner = GridSpecFromSubplotSpec(1, 2, slot, width_ratios=[2.7, 1], wspace=0.0)
    axes = figure.add_subplot(inner[0, 0], label=f"{task} heads")
    mesh = heatmap(axes, values, cmap=SIMILARITY, vmin=low, vmax=1)
    axes.set_title(task)
    if not slot.is_first_col():
        axes.set_ylabel("")

    beside = figure.add_subplot(inner[0, 1], sharey=axes, label=f"{task} layers")
    layer = np.arange(1, len(values) + 1)
    mean = values.mean(axis=1)
    spread = values.std(axis=1, ddof=1) if values.shape[1] > 1 else np.zeros_like(mean)
    beside.fill_betweenx(layer, mean - spread, mean + spread, color=BAND, linewidth=0)
    beside.plot(mean, layer, clip_on=False, **MEAN)
    for name, (_, look) in FLOORS.items():
        if rows[name].notna().any():
            beside.plot(grid(rows, name).mean(axis=1), layer, clip_on=False, **look)
    beside.set(xlim=(0, 1), xticks=[0, 1])
    beside.set_xlabel("Mean ± sd", fontsize=SMALL)
    beside.tick_params(length=0, labelleft=False)
    beside.spines[["left", "right"]].set(visible=True, linewidth=0.25)
    return mesh


def _legend(figure: Figure, floors: Sequence[str]) -> None:
    """Name the lines beside the heatmaps, those of floors only where they are known."""
    looks = [("before and after", MEAN), *(FLOORS[name] for name in floors)]
    lines = [Line2D([], [], **look) for _, look in looks]
    figure.legend(lines, [name for name, _ in looks], loc="outside upper center", ncols=len(lines))


def _colour_bar(
    figure: Figure, slot: SubplotSpec, mesh: QuadMesh, floors: Mapping[str, float]
) -> None:
    """Draw one colour bar for all panels, and mark the floors, or say that they lie below it."""
    axes = figure.add_subplot(slot, label="colour bar")
    text = "Cosine similarity (darker = greater difference"
    low, _ = mesh.get_clim()
    for name, value in floors.items():
        called, look = FLOORS[name]
        if value < low:
            text += f"; {called}: {value:.2f}, below the scale"
        else:
            axes.axvline(value, **look)
    bar = colour_bar(figure, mesh, f"{text})", cax=axes, orientation="horizontal")
    bar.locator = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
