"""How many heads help or hurt, and by how much (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from darksecrets.ablation.panels import rows_of, title
from darksecrets.ablation.tables import HEAD_ABLATION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
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

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BINS = 25  # 0 is an edge, so that no bar mixes heads that help with heads that hurt


def ablation_distribution(table: pd.DataFrame, tasks: Mapping[str, str], run_label: str) -> Figure:
    """Draw a histogram of the heads' score differences per task, and their mean.

    Heads of all seeds are counted. Each panel has its own scale.

    Args:
        table: `head_ablation.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns or tasks are missing.
    """
    panels = {
        t: rows_of(table, t, metric, ["delta"], "head_ablation.csv") for t, metric in tasks.items()
    }
    rows, beside = blocks(len(tasks))
    with style():
        figure = new_figure(width_for(beside), 1.3 * rows + 0.4)
        slots = figure.subplots(rows, beside, squeeze=False).ravel()
        for axes, (task, drawn) in zip(slots, panels.items(), strict=False):
            _panel(axes, task, drawn)
        for axes in slots[len(panels) :]:
            axes.remove()
        entries = {
            "worse without the head": Patch(color=HURT),
            "the same": Patch(color=GREY),
            "better": Patch(color=HELPED),
            "mean: a random head": Line2D([], [], color=INK, linestyle="--", linewidth=0.7),
        }
        figure.legend(
            list(entries.values()),
            list(entries),
            loc="outside upper center",
            ncols=2 if beside <= 2 else 4,
            handlelength=1.2,
        )
        figure.supylabel("Heads", fontsize=6.5)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return ablation_distribution(sources.table(HEAD_ABLATION), sources.main_metrics, sources.label)


def _panel(axes: Axes, task: str, rows: pd.DataFrame) -> None:
    deltas = rows["delta"].to_numpy()
    axes.set_label(f"{task} deltas")
    width = (max(deltas.max(), 0) - min(deltas.min(), 0)) / _BINS or 1.0
    edge = np.ceil(np.abs(deltas).max() / width + 1e-9)
    bins = width * np.arange(-edge, edge + 1)
    parts = {
        "hurt": (deltas[deltas < 0], HURT),
        "help": (deltas[deltas > 0], HELPED),
    }
    for name, (part, colour) in parts.items():
        bars, _ = np.histogram(part, bins)
        axes.bar(bins[:-1], bars, width, align="edge", color=colour, linewidth=0, label=name)
    hurt, helped = (len(part) for part, _ in parts.values())
    same = len(deltas) - hurt - helped
    axes.bar(0, same, width=width / 2, color=GREY, label="same")
    axes.axvline(deltas.mean(), color=INK, linestyle="--", linewidth=0.7)
    axes.set(xlim=(min(deltas.min(), 0) - width, max(deltas.max(), 0) + width))
    axes.set_xlabel("Difference to intact model")
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.tick_params(axis="x", pad=3)
    axes.set_title(title(rows), pad=9)
    text = f"{hurt} hurt, {same} the same, {helped} help"
    axes.text(0.5, 1.02, text, transform=axes.transAxes, ha="center", fontsize=SMALL)
