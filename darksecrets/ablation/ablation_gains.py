"""Which gains are significant, and the gain of the best head without selection bias (§4.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from darksecrets.ablation.panels import rows_of, title
from darksecrets.ablation.results import PARTS
from darksecrets.ablation.tables import BEST_HEAD, HEAD_ABLATION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    BAND,
    GREY,
    HELPED,
    HURT,
    INK,
    SMALL,
    blocks,
    label_run,
    new_figure,
    style,
    width_for,
)
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec
    from numpy.typing import NDArray

_POINT = {"linestyle": "none", "markersize": 3, "color": INK, "markeredgewidth": 0.6}
_NAIVE: dict[str, Any] = {**_POINT, "marker": "o", "markerfacecolor": "white"}
_UNBIASED: dict[str, Any] = {**_POINT, "marker": "o"}
# A panel reaches this many times further down than up; heads below its end are only counted.
_DEPTH = 2.5


def ablation_gains(
    table: pd.DataFrame, tasks: Mapping[str, str], run_label: str, *, best: pd.DataFrame
) -> Figure:
    """Draw the sorted score differences of the heads, and beside them the gains of the best.

    Differences have intervals; coloured heads differ significantly from the intact model after
    correction over all heads. The best head and layer are drawn twice: their gain on the examples
    that chose them (ring), and on other examples (dot, with its interval). All seeds are drawn.

    Args:
        table: `head_ablation.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.
        best: `best_head.csv`.

    Raises:
        InputError: When columns or tasks are missing.
    """
    ends = ["ci_low", "ci_high"]
    panels = {
        task: (
            rows_of(table, task, metric, ["delta", "q_value", *ends], "head_ablation.csv"),
            rows_of(
                best, task, metric, ["kind", "naive_gain", "unbiased_gain", *ends], "best_head.csv"
            ),
        )
        for task, metric in tasks.items()
    }
    rows, beside = blocks(len(tasks))
    with style():
        figure = new_figure(width_for(beside), 1.75 * rows + 0.5)
        slots = figure.add_gridspec(rows, beside)
        for index, (task, (heads, gains)) in enumerate(panels.items()):
            slot = slots[index // beside, index % beside]
            _panel(figure, slot, task, heads, gains)
        _legend(figure, 2 if beside <= 2 else 4)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    table, best = sources.table(HEAD_ABLATION), sources.table(BEST_HEAD, "best")
    return ablation_gains(table, sources.main_metrics, sources.label, best=best)


def _panel(
    figure: Figure, slot: SubplotSpec, task: str, heads: pd.DataFrame, gains: pd.DataFrame
) -> None:
    inner = GridSpecFromSubplotSpec(1, 2, slot, width_ratios=[1.5, 1], wspace=0.0)
    left = figure.add_subplot(inner[0, 0], label=f"{task} heads")
    right = figure.add_subplot(inner[0, 1], sharey=left, label=f"{task} best")
    top = max(heads["ci_high"].max(), gains[["naive_gain", "ci_high"]].to_numpy().max(), 0.01)
    lowest = gains["ci_low"].min()
    bottom = min(lowest, max(heads["ci_low"].min(), -_DEPTH * top))
    left.set_ylim(bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom))
    left.yaxis.set_major_locator(MaxNLocator(6))
    for axes in (left, right):
        axes.axhline(0, color=GREY, linewidth=0.5, zorder=0)
    _heads(left, heads.sort_values("delta"), bottom)
    left.set(title=title(heads), xlabel="Heads, in order", xticks=[])
    if slot.is_first_col():
        left.set_ylabel("Difference to intact model")
    _best(right, gains)


def _heads(axes: Axes, heads: pd.DataFrame, bottom: float) -> None:
    """Draw every head's difference and interval, and say how many lie below the panel."""
    real = (heads["q_value"] < LEVEL).to_numpy()
    deltas = heads["delta"].to_numpy()
    place = np.arange(1, len(heads) + 1)
    axes.vlines(place, heads["ci_low"], heads["ci_high"], color=BAND, linewidth=0.6)
    parts: list[tuple[str, NDArray[np.bool_], str, float]] = [
        ("unsure", ~real, GREY, 1.0),
        ("hurt", real & (deltas < 0), HURT, 2.2),
        ("helped", real & (deltas > 0), HELPED, 2.6),
    ]
    for label, chosen, colour, size in parts:
        axes.plot(
            *(place[chosen], deltas[chosen]),
            linestyle="none",
            marker="o",
            markersize=size,
            markeredgewidth=0,
            color=colour,
            label=label,
        )
    if below := int((deltas < bottom).sum()):
        corner: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
        axes.text(0.98, 0.02, f"{below} below", fontsize=SMALL, **corner)


def _best(axes: Axes, gains: pd.DataFrame) -> None:
    """Draw the gain of the best head and layer, on the examples that chose it and on others."""
    for place, kind in enumerate(PARTS):
        rows = gains[gains["kind"] == kind]
        spread = np.linspace(-0.08, 0.08, len(rows)) if len(rows) > 1 else np.zeros(len(rows))
        x = place + spread
        axes.plot(x - 0.2, rows["naive_gain"], label=f"{kind} naive", **_NAIVE)
        axes.vlines(x + 0.2, rows["ci_low"], rows["ci_high"], color=INK, linewidth=0.7)
        axes.plot(x + 0.2, rows["unbiased_gain"], label=f"{kind} unbiased", **_UNBIASED)
    axes.set(xlim=(-0.6, 1.6), xticks=range(len(PARTS)), xticklabels=PARTS, xlabel="Best")
    axes.tick_params(labelleft=False, left=False, bottom=False, labelsize=SMALL)
    axes.spines["left"].set(linewidth=0.25)


def _legend(figure: Figure, columns: int) -> None:
    entries = {
        "helps, after correction": Line2D([], [], **{**_UNBIASED, "color": HELPED}),
        "hurts, after correction": Line2D([], [], **{**_UNBIASED, "color": HURT}),
        "best, where it was chosen": Line2D([], [], **_NAIVE),
        "best, on other examples": Line2D([], [], **_UNBIASED),
    }
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside upper center",
        ncols=columns,
        handletextpad=0,
        columnspacing=1,
    )
