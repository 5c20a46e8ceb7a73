"""Loss and score between what fine-tuning began with and what it made (Hao et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.lines import Line2D

from darksecrets.ablation.panels import STATE
from darksecrets.data.metrics import METRICS
from darksecrets.landscape.tables import (
    ENCODER,
    INTERPOLATION,
    LAYER,
    LOSS,
    MODEL,
    TRAIN,
    VALIDATION,
)
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import BASELINE, GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_PARTS: dict[str, dict[str, Any]] = {
    MODEL: {"color": "#D55E00"},
    ENCODER: {"color": INK},
}
_SPLITS: dict[str, dict[str, Any]] = {
    VALIDATION: {"linestyle": "-"},
    TRAIN: {"linestyle": ":"},
}
_MAP, _PALEST = "viridis_r", 0.12
"""Colours of layers: darker = higher."""


def paths(table: pd.DataFrame, tasks: Mapping[str, str], run_label: str) -> Figure:
    """Draw, for every task, losses of the whole model above, and scores of single layers below.

    Args:
        table: `interpolation.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.
    """
    rows = table[table["state"] == STATE]
    tables = {
        task: rows[(rows["task"] == task) & rows["quantity"].isin([LOSS, metric])]
        for task, metric in tasks.items()
    }
    layers = int(rows["layer"].max())
    return panel_figure(
        tables,
        _panel,
        lambda figure, beside: _legend(figure, beside, layers),
        run_label,
        height=lambda width: 0.6 + 1.15 * width,
    )


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    tasks = {task: sources.main_metrics[task] for task in sources.tasks}
    return paths(sources.table(INTERPOLATION), tasks, sources.label)


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    inner = GridSpecFromSubplotSpec(2, 1, slot)
    above = figure.add_subplot(inner[0, 0], label=f"{task} loss")
    below = figure.add_subplot(inner[1, 0], label=f"{task} score", sharex=above)
    above.set_title(task)
    for part, colour in _PARTS.items():
        for split, dash in _SPLITS.items():
            chosen = (rows["part"] == part) & (rows["split"] == split) & (rows["quantity"] == LOSS)
            _line(above, rows[chosen], {**colour, **dash}, band=split == VALIDATION)
    (metric,) = set(rows["quantity"]) - {LOSS}
    scores = rows[rows["quantity"] == metric]
    layers = int(scores["layer"].max())
    for layer in range(1, layers + 1):
        own = scores[(scores["part"] == LAYER) & (scores["layer"] == layer)]
        _line(below, own, {"color": _colour(layer, layers), "linewidth": 0.8})
    _line(below, scores[scores["part"] == ENCODER], {"color": INK}, band=True)
    below.axhline(float(scores["value"][scores["alpha"] == 1].mean()), zorder=0, **_FINE_TUNED)
    above.tick_params(labelbottom=False)
    below.set(xlabel="α (fine-tuned share)", xlim=(0, 1))
    if slot.is_first_col():
        above.set_ylabel("Loss")
    below.set_ylabel(METRICS[metric].title)


_FINE_TUNED: dict[str, Any] = {"color": BASELINE, "linewidth": 1.2}


def _line(axes: Axes, rows: pd.DataFrame, look: dict[str, Any], *, band: bool = False) -> None:
    """Draw a curve; its band is the interval of the difference from α = 1."""
    rows = rows.sort_values("alpha")
    alpha, value = rows["alpha"], rows["value"]
    if band:
        ends = (
            value - rows["difference"] + rows["ci_low"],
            value - rows["difference"] + rows["ci_high"],
        )
        axes.fill_between(alpha, *ends, color=look["color"], alpha=0.15, linewidth=0)
    axes.plot(alpha, value, **look)


def _colour(layer: int, layers: int) -> tuple[float, float, float, float]:
    share = _PALEST + (1 - _PALEST) * (layer - 1) / max(1, layers - 1)
    red, green, blue, opacity = (float(x) for x in np.asarray(mpl.colormaps[_MAP](share)))
    return red, green, blue, opacity


def _legend(figure: Figure, beside: int, layers: int) -> None:
    entries: dict[str, Any] = {
        "whole model, with its classifier": Line2D([], [], **_PARTS[MODEL]),
        "encoder: all layers, embeddings": Line2D([], [], **_PARTS[ENCODER]),
        "solid: validation": Line2D([], [], color=GREY),
        "dotted: training examples": Line2D([], [], color=GREY, **_SPLITS[TRAIN]),
        "layer 1 alone": Line2D([], [], color=_colour(1, layers)),
        f"layer {layers} alone": Line2D([], [], color=_colour(layers, layers)),
        "fine-tuned": Line2D([], [], **_FINE_TUNED),
    }
    columns = 1 if beside <= 2 else 4
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": columns, "handlelength": 1.6}
    figure.legend(list(entries.values()), list(entries), **place)
