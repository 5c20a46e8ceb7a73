"""Losses around a fine-tuned model: a plane and a line (Hao et al. 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from darksecrets.beyond.landscape import surface_tables as of
from darksecrets.beyond.landscape.tables import TRAIN, VALIDATION
from darksecrets.core.arrays import Floats
from darksecrets.core.plotting import kit

_LEVELS = 10
_ROBUST = 90
"""Percentile of the losses of a plane above which all have one colour."""
_FLAT = 1e-3
"""Share of a loss, below which differences are not drawn."""
_LOOKS = {
    of.PRETRAINED: kit.dot(kit.BLUE, "s", 4.5, markeredgecolor="white", markeredgewidth=0.6),
    of.FINETUNED: kit.dot(kit.BASELINE, "o", 4.5, markeredgecolor="white", markeredgewidth=0.6),
    of.FROM_NORMAL: kit.dot(kit.PINK, "^", 4.5, markeredgecolor="white", markeredgewidth=0.6),
}
_NAMES = {of.PRETRAINED: "pre-trained", of.FINETUNED: "fine-tuned", of.FROM_NORMAL: "random init."}
_IN_FULL = {**_NAMES, of.FROM_NORMAL: "fine-tuned from random initialization"}
_LABELS: dict[str, dict[str, Any]] = {
    of.PRETRAINED: {"xytext": (3, 4), "ha": "right"},
    of.FINETUNED: {"xytext": (-3, -9), "ha": "left"},
    of.FROM_NORMAL: {"xytext": (5, -2), "ha": "left"},
}
"""Where names stand, so that they stay within a panel and apart from each other."""
_PATH: dict[str, Any] = kit.line(kit.INK, ".", width=0.8, markersize=1.5)
_LINES = {VALIDATION: {"color": kit.INK}, TRAIN: kit.line(kit.INK, dash=":")}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw, for the first seed of every task, the plane and the line."""
    surfaces = _of_first_seeds(sources.table(of.LOSS_SURFACES, "surfaces"))
    points = kit.pick(_of_first_seeds(sources.table(of.SURFACE_POINTS, "points")), split=TRAIN)

    def plane(axes: kit.Axes, task: str, which: str) -> None:
        _contours(axes, kit.pick(surfaces, task=task, plane=which, split=TRAIN))
        rows = points[points["task"] == task]
        path = rows[rows["point"] == of.PATH].sort_values("step")
        if len(path):
            halo = [withStroke(linewidth=1.8, foreground="white")]
            axes.plot(path["x"], path["y"], path_effects=halo, **_PATH)
        for row in rows[rows["point"].isin(list(_LOOKS))].to_dict("records"):
            _dot(axes, row["point"], float(row["x"]), float(row["y"]))

    def line(axes: kit.Axes, task: str) -> None:
        for split, look in _LINES.items():
            own = kit.pick(surfaces, task=task, plane=of.LINE, split=split).sort_values("x")
            axes.fill_between(
                own["x"], own["ci_low"], own["ci_high"], color=kit.GREY, alpha=0.2, lw=0
            )
            axes.plot(own["x"], own["loss"], **look)
        for place, name in ((0, of.PRETRAINED), (1, of.FINETUNED)):
            axes.axvline(place, color=_LOOKS[name]["color"], linewidth=0.8, zorder=0)
        axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 5, 10]))

    panels = [
        [kit.Panel(plane, of=(of.MODELS,), x="To pre-trained", y="To random init.", height=1.5)],
        [kit.Panel(line, of.LINE, x="To fine-tuned", y="Loss", height=1.1)],
    ]
    legend: dict[str, Any] = {_IN_FULL[name]: look for name, look in _LOOKS.items()}
    if of.PATH in set(points["point"]):
        legend["path of the fine-tuning"] = _PATH
    legend |= {"loss of training examples": _LINES[TRAIN]}
    legend |= {"of validation examples": _LINES[VALIDATION]}
    headline = "Loss around fine-tuned models (darker = greater)"
    return kit.page(sources, headline, panels, most=4, legend=legend)


def levels(losses: Floats) -> Floats:
    """Boundaries of colours, evenly spaced on a logarithmic scale, ascending.

    The highest is a percentile of the losses, because a few nodes far away are much higher than
    all others. Losses that hardly differ get boundaries around them, so that they have one colour.
    """
    lowest = max(float(losses.min()), 1e-6)
    highest = max(float(np.percentile(losses, _ROBUST)), lowest * (1 + _FLAT))
    return np.geomspace(lowest, highest, _LEVELS + 1)


def _of_first_seeds(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == table.groupby("task")["seed"].transform("min")]


def _contours(axes: kit.Axes, rows: pd.DataFrame) -> None:
    losses = rows.pivot(index="row", columns="column", values="loss").to_numpy(dtype=np.float64)
    x, y = (rows.groupby(place)[way].first() for place, way in (("column", "x"), ("row", "y")))
    found = levels(losses)
    losses = np.maximum(losses, found[0])
    norm = BoundaryNorm(found, 256, extend="max")
    mesh = axes.contourf(x, y, losses, cmap=kit.SCORE, norm=norm, levels=found, extend="max")
    if losses.max() > found[1]:
        axes.contour(x, y, losses, levels=found[1:], colors="white", linewidths=0.25)
    bar = kit.scale(axes.figure, mesh, ax=axes)
    bar.set_ticks(found[::2].tolist(), labels=[f"{level:.2g}" for level in found[::2]])
    bar.ax.minorticks_off()
    axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 5, 10]))


def _dot(axes: kit.Axes, name: str, x: float, y: float) -> None:
    axes.plot([x], [y], zorder=3, **_LOOKS[name])
    halo = [withStroke(linewidth=1.4, foreground="white")]
    place: dict[str, Any] = {"textcoords": "offset points", **_LABELS[name]}
    axes.annotate(_NAMES[name], (x, y), color=kit.INK, path_effects=halo, **place)
