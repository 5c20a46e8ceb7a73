"""How much scores depend on the seeds of start and order (Dodge et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from darksecrets.data.metrics import METRICS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import BASELINE, INK, PAGE, label_run, new_figure, style, wrapped
from darksecrets.seeds.tables import (
    COMPONENTS,
    EARLY_STOPPING,
    EXPECTED_MAXIMUM,
    INIT,
    ORDER,
    RESIDUAL,
    SEED_VARIANCE,
)
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS: dict[str, dict[str, Any]] = {
    INIT: {"color": "#0072B2", "marker": "o"},
    ORDER: {"color": "#D55E00", "marker": "s"},
    RESIDUAL: {"color": INK, "marker": "D"},
}
_WORDS = {INIT: "start", ORDER: "order, dropout", RESIDUAL: "residual"}
_CUT: dict[str, Any] = {"marker": "^", "markersize": 5}
_HELD_OUT: dict[str, Any] = {"color": "#0072B2", "linestyle": "--"}


def seed_variance(
    variances: pd.DataFrame,
    maxima: pd.DataFrame,
    stopping: pd.DataFrame,
    tasks: Mapping[str, str],
    run_label: str,
) -> Figure:
    """Draw a row of three panels per task: deviations over seeds, the best of n, correlations.

    Args:
        variances: `seed_variance.csv`.
        maxima: `expected_maximum.csv`.
        stopping: `early_stopping.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.
    """
    with style():
        figure = new_figure(PAGE, 1.6 * len(tasks) + 0.5)
        slots = figure.add_gridspec(len(tasks), 3)
        for row, (task, metric) in enumerate(tasks.items()):
            name = f"{wrapped(task, PAGE / 3)}, {METRICS[metric].title}"
            panels = [
                figure.add_subplot(slots[row, column], label=f"{task} {what}")
                for column, what in enumerate(("deviations", "maxima", "correlations"))
            ]
            chosen = [
                table[(table["task"] == task) & (table["metric"] == metric)]
                for table in (variances, maxima, stopping)
            ]
            _deviations(panels[0], chosen[0])
            _maxima(panels[1], chosen[1])
            _correlations(panels[2], chosen[2])
            panels[0].set_title(name)
        _legend(figure)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return seed_variance(
        sources.table(SEED_VARIANCE),
        sources.table(EXPECTED_MAXIMUM, "maxima"),
        sources.table(EARLY_STOPPING, "stopping"),
        {task: sources.main_metrics[task] for task in sources.tasks},
        sources.label,
    )


def _deviations(axes: Axes, rows: pd.DataFrame) -> None:
    # intervals of two degrees of freedom would hide all else
    most = max(float(rows["sd"].max()) if len(rows) else 1.0, 0.1)
    top = 4 * most
    for place, name in enumerate(COMPONENTS):
        look = _LOOKS[name]
        for each in rows[rows["component"] == name].to_dict("records"):
            ends = np.sqrt([each["ci_low"], each["ci_high"]])
            axes.vlines(place, ends[0], min(ends[1], top), color=look["color"], linewidth=1)
            sure = name == RESIDUAL or each["q_value"] < LEVEL
            fill = look["color"] if sure else "white"
            point: dict[str, Any] = {"markersize": 4, "linestyle": "none", **look}
            axes.plot(place, each["sd"], markerfacecolor=fill, **point)
            if each["variance"] < 0:
                axes.plot(place, each["sd"], marker="x", markersize=6, color=look["color"])
            if ends[1] > top:
                axes.plot(place, top, color=look["color"], **_CUT)
    axes.set_ylim(-0.08 * most, 1.05 * top)
    axes.set_xlim(-0.5, len(COMPONENTS) - 0.5)
    axes.set_xticks(range(len(COMPONENTS)), [_WORDS[name] for name in COMPONENTS])
    axes.set_ylabel("SD over seeds (points)")


def _maxima(axes: Axes, rows: pd.DataFrame) -> None:
    rows = rows.sort_values("drawn")
    axes.fill_between(
        rows["drawn"], rows["ci_low"], rows["ci_high"], color=INK, alpha=0.15, linewidth=0
    )
    axes.plot(rows["drawn"], rows["expected"], color=INK)
    axes.plot(rows["drawn"], rows["held_out"], **_HELD_OUT)
    axes.set(xlabel="Best of n runs", ylabel="Expected score")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def _correlations(axes: Axes, rows: pd.DataFrame) -> None:
    rows = rows.sort_values("epoch")
    axes.axhline(0, color=BASELINE, linewidth=1.2, zorder=0)
    axes.plot(rows["epoch"], rows["spearman"], color=INK, linewidth=0.8)
    sure = rows["q_value"] < LEVEL
    for fill, chosen in (("white", ~sure), (INK, sure)):
        points = rows.loc[chosen, "epoch"], rows.loc[chosen, "spearman"]
        axes.plot(*points, "o", color=INK, markerfacecolor=fill, markersize=3.5)
    if rows.empty:
        axes.text(
            0.5, 0.75, "one epoch", transform=axes.transAxes, ha="center", va="center", color=INK
        )
        axes.set_xticks([])
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set(xlabel="Epoch", ylabel="Correlation with the end", ylim=(-1.05, 1.05))


def _legend(figure: Figure) -> None:
    filled: dict[str, Any] = {"linestyle": "none", "markersize": 4, "color": INK}
    entries = {
        "significant": Line2D([], [], marker="o", **filled),
        "not significant": Line2D([], [], marker="o", markerfacecolor="white", **filled),
        "negative estimate of the variance": Line2D([], [], marker="x", **filled),
        "interval continues": Line2D([], [], **{**filled, "marker": "^"}),
        "best of n": Line2D([], [], color=INK),
        "chosen and scored on different halves": Line2D([], [], **_HELD_OUT),
    }
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": 3}
    figure.legend(list(entries.values()), list(entries), **place)
