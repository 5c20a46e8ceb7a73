"""Figure 7: what [CLS] attends to in the last layer, after fine-tuning (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from darksecrets.features.tables import CLS_ATTENTION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    CHANGE,
    SMALL,
    UNKNOWN,
    WEIGHT,
    blocks,
    check_columns,
    colour_bar,
    label_run,
    new_figure,
    style,
    ticks,
    width_for,
)
from darksecrets.run.columns import RANDOM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from numpy.typing import NDArray

FEATURES = (
    *("[CLS]", "[SEP]", "punctuation", "noun", "pronoun"),
    *("verb", "subject", "object", "negation"),
)
"""Rows of a panel, from the top."""

COLUMNS = ("task", "state", "feature", "head", "weight", "control")


def figure7(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw two heatmaps of features × heads per task; several seeds are averaged.

    The upper one has the weights, as in the paper; the lower one subtracts the control, because the
    greatest weight favours features that many tokens have. Cells of a feature that is absent from
    the task are grey. The scale says how great the weights of an encoder with random weights are.

    Args:
        table: Columns ``task``, ``state``, ``feature``, ``head`` (from 1), ``weight``, ``control``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns are missing.
    """
    check_columns(table, COLUMNS, "cls_attention.csv")
    by_chance = table.loc[table["state"] == RANDOM, "weight"].max()
    table = table[table["state"] == "finetuned"]
    weights = {task: _values(table, task, "weight") for task in tasks}
    excess = {task: weights[task] - _values(table, task, "control") for task in tasks}
    rows, columns = blocks(len(tasks))
    bounds = [max(float(np.nanmax(np.abs(v))) for v in maps.values()) for maps in (weights, excess)]
    looks: tuple[dict[str, Any], ...] = (
        {"cmap": WEIGHT, "vmin": 0, "vmax": bounds[0]},
        {"cmap": CHANGE, "vmin": -bounds[1], "vmax": bounds[1]},
    )
    with style():
        figure = new_figure(width_for(columns), 2.4 * rows + 0.8)
        slots = figure.add_gridspec(
            2 * rows + 2, columns, height_ratios=[1.0] * (2 * rows) + [0.05] * 2
        )
        meshes = {}
        for index, task in enumerate(tasks):
            for below, maps in enumerate((weights, excess)):
                slot = slots[2 * (index // columns) + below, index % columns]
                name = f"{task} over control" if below else task
                axes = figure.add_subplot(slot, label=name)
                meshes[below] = _panel(axes, maps[task], looks[below])
                axes.set(title="" if below else task, xlabel="Head" if below else "")
                axes.set_yticklabels(FEATURES if index % columns == 0 else [], fontsize=SMALL)
                axes.tick_params(labelbottom=bool(below))
        reference = "" if pd.isna(by_chance) else f" (random: ≤ {by_chance:.2f})"
        texts = (
            f"Weight from [CLS] in the last layer{reference}",
            "The same minus random tokens (control)",
        )
        for below, text in enumerate(texts):
            beside = figure.add_subplot(slots[2 * rows + below, :], label=f"colour bar {below + 1}")
            colour_bar(figure, meshes[below], text, cax=beside, orientation="horizontal")
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return figure7(sources.table(CLS_ATTENTION), sources.tasks, sources.label)


def _values(table: pd.DataFrame, task: str, column: str) -> NDArray[np.float64]:
    """[feature, head] mean over seeds; NaN for a feature without examples."""
    heads = range(1, int(table["head"].max()) + 1)
    wide = table[table["task"] == task].pivot_table(
        index="feature", columns="head", values=column, aggfunc="mean"
    )
    return wide.reindex(index=list(FEATURES), columns=heads).to_numpy(dtype=np.float64)


def _panel(axes: Axes, values: NDArray[np.float64], look: dict[str, Any]) -> QuadMesh:
    """One heatmap of features × heads."""
    heads = values.shape[1]
    axes.set_facecolor(UNKNOWN)
    mesh = axes.pcolormesh(
        np.arange(heads + 1) + 0.5,
        np.arange(len(FEATURES) + 1) - 0.5,
        np.ma.masked_invalid(values),
        edgecolors="white",
        linewidth=0.25,
        **look,
    )
    axes.set(xlim=(0.5, heads + 0.5), ylim=(len(FEATURES) - 0.5, -0.5))
    axes.set(xticks=ticks(heads), yticks=range(len(FEATURES)))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return mesh
