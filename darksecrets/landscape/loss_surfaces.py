"""Losses around a fine-tuned model: two planes and a line (Li et al. 2018; Hao et al. 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.colors import BoundaryNorm
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from darksecrets.landscape.surface_tables import (
    FINETUNED,
    FROM_NORMAL,
    LINE,
    LOSS_SURFACES,
    MODELS,
    PATH,
    PRETRAINED,
    RANDOM,
    SURFACE_POINTS,
)
from darksecrets.landscape.tables import TRAIN, VALIDATION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import BASELINE, GREY, INK, SMALL, colour_bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

Floats = npt.NDArray[np.float64]

_COLOURS = "Blues"
_LEVELS = 10
_ROBUST = 90
"""Percentile of the losses of a plane above which all have one colour."""
_FLAT = 1e-3
"""Share of a loss, below which differences are not drawn."""
_LOOKS: dict[str, dict[str, Any]] = {
    PRETRAINED: {"marker": "s", "color": "#0072B2"},
    FINETUNED: {"marker": "o", "color": BASELINE},
    FROM_NORMAL: {"marker": "^", "color": "#CC79A7"},
}
_NAMES = {
    PRETRAINED: "pre-trained",
    FINETUNED: "fine-tuned",
    FROM_NORMAL: "from normal",
}
_IN_FULL = {FROM_NORMAL: "fine-tuned from normal weights"}
_LABELS: dict[str, dict[str, Any]] = {
    PRETRAINED: {"xytext": (3, 4), "ha": "right"},
    FINETUNED: {"xytext": (-3, -9), "ha": "left"},
    FROM_NORMAL: {"xytext": (5, -2), "ha": "left"},
}
"""Where names stand, so that they stay within a panel and apart from each other."""
_PATH: dict[str, Any] = {"color": INK, "linewidth": 0.8, "marker": ".", "markersize": 1.5}
_LINES: dict[str, dict[str, Any]] = {
    VALIDATION: {"color": INK, "linestyle": "-"},
    TRAIN: {"color": INK, "linestyle": ":"},
}
_AXES = {
    MODELS: ("To pre-trained", "To from normal"),
    RANDOM: ("Random direction", "Another"),
    LINE: ("To fine-tuned", "Loss"),
}


def loss_surfaces(
    surfaces: pd.DataFrame, points: pd.DataFrame, tasks: list[str], run_label: str
) -> Figure:
    """Draw, for the first seed of every task, both planes and the line.

    Args:
        surfaces: `loss_surfaces.csv`.
        points: `surface_points.csv`.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.
    """
    marks = {task: _of_first_seed(points, task) for task in tasks}
    return panel_figure(
        {task: _of_first_seed(surfaces, task) for task in tasks},
        lambda figure, slot, task, rows: _panel(figure, slot, task, rows, marks[task]),
        lambda figure, beside: _legend(figure, beside, paths=PATH in set(points["point"])),
        run_label,
        height=lambda width: 0.9 + 1.9 * width,
    )


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    surfaces = sources.table(LOSS_SURFACES, "surfaces")
    points = sources.table(SURFACE_POINTS, "points")
    return loss_surfaces(surfaces, points, sources.tasks, sources.label)


def levels(losses: Floats) -> Floats:
    """Boundaries of colours, evenly spaced on a logarithmic scale, ascending.

    The highest is a percentile of the losses, because a few nodes far away are much higher than
    all others. Losses that hardly differ get boundaries around them, so that they have one colour.
    """
    lowest = max(float(losses.min()), 1e-6)
    highest = max(float(np.percentile(losses, _ROBUST)), lowest * (1 + _FLAT))
    found: Floats = np.geomspace(lowest, highest, _LEVELS + 1)
    return found


def _of_first_seed(table: pd.DataFrame, task: str) -> pd.DataFrame:
    rows = table[table["task"] == task]
    found: pd.DataFrame = rows[rows["seed"] == rows["seed"].min()]
    return found


def _panel(
    figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame, points: pd.DataFrame
) -> None:
    shape: dict[str, Any] = {"height_ratios": [1.15, 1.15, 0.8], "width_ratios": [14, 1]}
    inner = GridSpecFromSubplotSpec(3, 2, slot, wspace=0.0, **shape)
    for place, plane in enumerate((MODELS, RANDOM, LINE)):
        axes = figure.add_subplot(inner[place, 0], label=f"{task} {plane}")
        chosen = rows[rows["plane"] == plane]
        if plane == LINE:
            _along(axes, chosen)
        else:
            bar = figure.add_subplot(inner[place, 1], label=f"{task} {plane} bar")
            _contours(figure, axes, bar, chosen[chosen["split"] == TRAIN])
            _mark(axes, points if plane == MODELS else None)
        across, up = _AXES[plane]
        axes.set_xlabel(across)
        axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 5, 10]))
        if slot.is_first_col():
            axes.set_ylabel(up)
        if plane == MODELS:
            axes.set_title(task)


def _contours(figure: Figure, axes: Axes, beside: Axes, rows: pd.DataFrame) -> None:
    wide = rows.pivot(index="row", columns="column", values="loss")
    losses = wide.to_numpy(dtype=np.float64)
    x = rows[rows["row"] == 1].sort_values("column")["x"].to_numpy(dtype=np.float64)
    y = rows[rows["column"] == 1].sort_values("row")["y"].to_numpy(dtype=np.float64)
    found = levels(losses)
    look: dict[str, Any] = {"levels": found, "extend": "max"}
    norm = BoundaryNorm(found, 256, extend="max")
    losses = np.maximum(losses, found[0])
    mesh = axes.contourf(x, y, losses, cmap=_COLOURS, norm=norm, **look)
    if losses.max() > found[1]:
        axes.contour(x, y, losses, levels=found[1:], colors="white", linewidths=0.25)
    bar = colour_bar(figure, mesh, cax=beside)
    bar.set_ticks(found[::2].tolist())
    bar.ax.set_yticklabels([f"{level:.2g}" for level in found[::2]], fontsize=SMALL)
    bar.ax.minorticks_off()


def _mark(axes: Axes, points: pd.DataFrame | None) -> None:
    """Mark the models of a plane; of a random one, there is only the fine-tuned model."""
    if points is None:
        _dot(axes, FINETUNED, 0.0, 0.0)
        return
    rows = points[points["split"] == TRAIN]
    path = rows[rows["point"] == PATH].sort_values("step")
    if len(path):
        halo = [withStroke(linewidth=1.8, foreground="white")]
        axes.plot(path["x"], path["y"], path_effects=halo, **_PATH)
    for name in _LOOKS:
        for _, row in rows[rows["point"] == name].iterrows():
            _dot(axes, name, float(row["x"]), float(row["y"]))


def _dot(axes: Axes, name: str, x: float, y: float) -> None:
    look: dict[str, Any] = {"markersize": 4.5, "markeredgecolor": "white", "markeredgewidth": 0.6}
    axes.plot([x], [y], linestyle="none", zorder=3, **look, **_LOOKS[name])
    halo = [withStroke(linewidth=1.4, foreground="white")]
    place: dict[str, Any] = {"textcoords": "offset points", **_LABELS[name]}
    axes.annotate(_NAMES[name], (x, y), fontsize=SMALL, color=INK, path_effects=halo, **place)


def _along(axes: Axes, rows: pd.DataFrame) -> None:
    for split, look in _LINES.items():
        own = rows[rows["split"] == split].sort_values("x")
        axes.fill_between(own["x"], own["ci_low"], own["ci_high"], color=GREY, alpha=0.2, lw=0)
        axes.plot(own["x"], own["loss"], **look)
    for place, name in ((0, PRETRAINED), (1, FINETUNED)):
        axes.axvline(place, color=_LOOKS[name]["color"], linewidth=0.8, zorder=0)


def _legend(figure: Figure, beside: int, *, paths: bool) -> None:
    entries: dict[str, Any] = {
        _IN_FULL.get(name, _NAMES[name]): Line2D([], [], linestyle="none", markersize=4, **look)
        for name, look in _LOOKS.items()
    }
    if paths:
        entries["path of the fine-tuning"] = Line2D([], [], **_PATH)
    entries |= {
        "loss of training examples": Line2D([], [], **_LINES[TRAIN]),
        "of validation examples": Line2D([], [], **_LINES[VALIDATION]),
    }
    columns = 2 if beside <= 2 else 4
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": columns, "handlelength": 1.6}
    figure.legend(list(entries.values()), list(entries), **place)
