"""Figure 9: the score of every task with one layer disabled at a time (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from darksecrets.ablation.panels import (
    EFFECT,
    by_panel,
    legend,
    mark,
    scale,
    significant,
    title,
)
from darksecrets.ablation.tables import LAYER_ABLATION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel, panel_figure
from darksecrets.plotting.style import BASELINE, INK, SCORE, SMALL, grid
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_DARK = 0.6  # text is white above this share of the colour scale


def figure9(table: pd.DataFrame, metrics: Mapping[str, Sequence[str]], run_label: str) -> Figure:
    """Draw a column of layers per task and metric, beside it the differences to the intact model.

    As in the paper: layer 1 at the top, darker = greater score, one scale per task, an orange
    line for the intact model. Seeds are averaged in the column; beside it, each has its difference
    with its interval, filled if it is significant.

    Args:
        table: `layer_ablation.csv`.
        metrics: Metrics of the tasks to draw, in this order; the first one is drawn, and accuracy.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, tasks or layers are missing.
    """
    tables = by_panel(table, metrics, ["layer", *EFFECT], "layer_ablation.csv")
    layers = max(rows["layer"].nunique() for rows in tables.values())
    return panel_figure(
        *(tables, _panel, legend, run_label), height=lambda _: 0.6 + 0.12 * max(layers, 3)
    )


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return figure9(sources.table(LAYER_ABLATION), sources.metrics, sources.label)


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    rows = rows.assign(head=1)
    values = grid(rows, "score")
    low, high = scale(values, rows)
    look: dict[str, Any] = {"title": title(rows), "what": "layers", "ratio": 1.3, "labels": 12}
    colours: dict[str, Any] = {"cmap": SCORE, "vmin": low, "vmax": high}
    axes, beside, _ = panel(figure, slot, task, values, **look, **colours)
    axes.set(xlabel="Score", xticks=[])
    for layer, value in enumerate(values[:, 0], start=1):
        colour = "white" if value > low + _DARK * (high - low) else INK
        axes.text(1, layer, f"{value:.1f}", color=colour, fontsize=SMALL, ha="center", va="center")
    mark(axes, significant(rows), across=0.38)
    beside.set(label=f"{task} intervals", ylim=axes.get_ylim())
    _differences(beside, rows)


def _differences(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the difference of every layer and seed to the intact model, with its interval."""
    axes.axvline(0, color=BASELINE, linewidth=2, zorder=0)
    axes.set_title(f"intact: {rows['baseline'].mean():.1f}", fontsize=SMALL, color=INK)
    seeds = sorted(set(rows["seed"]))
    for place, seed in zip(np.linspace(-0.25, 0.25, len(seeds) + 2)[1:-1], seeds, strict=True):
        own = rows[rows["seed"] == seed]
        heights = own["layer"] + place
        axes.hlines(heights, own["ci_low"], own["ci_high"], color=INK, linewidth=0.6)
        sure = own["q_value"] < LEVEL
        for fill, chosen in (("white", ~sure), (INK, sure)):
            points = own.loc[chosen, "delta"], heights[chosen]
            look: dict[str, Any] = {"color": INK, "markerfacecolor": fill, "markeredgewidth": 0.4}
            axes.plot(*points, "o", markersize=2, **look)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.set(xlabel="Difference", yticks=[])
    axes.tick_params(labelsize=SMALL)
