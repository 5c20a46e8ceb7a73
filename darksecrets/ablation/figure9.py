"""Figure 9: the score of every task with one layer disabled at a time (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from darksecrets.ablation.panels import by_panel, legend, title
from darksecrets.ablation.tables import LAYER_ABLATION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import limits, marked_bar, panel, panel_figure
from darksecrets.plotting.style import INK, SCORE, SMALL, grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_DARK = 0.6  # text is white above this share of the colour scale


def figure9(table: pd.DataFrame, metrics: Mapping[str, Sequence[str]], run_label: str) -> Figure:
    """Draw a column of layers per task and metric, the baseline marked on its colour bar.

    As in the paper: layer 1 at the top, darker = greater score, one scale per task, an orange
    line for the intact model. Seeds are averaged.

    Args:
        table: `layer_ablation.csv`.
        metrics: Metrics of the tasks to draw, in this order; the first one is drawn, and accuracy.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, tasks or layers are missing.
    """
    columns = ["layer", "baseline", "score"]
    tables = by_panel(table, metrics, columns, "layer_ablation.csv")
    layers = max(rows["layer"].nunique() for rows in tables.values())
    return panel_figure(
        *(tables, _panel, lambda figure, _: legend(figure, "layer"), run_label),
        height=lambda _: 0.5 + 0.11 * layers,
    )


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return figure9(sources.table(LAYER_ABLATION), sources.metrics, sources.label)


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    values, baseline = grid(rows.assign(head=1), "score"), float(rows["baseline"].mean())
    low, high = limits(values, baseline)
    look: dict[str, Any] = {"title": title(rows), "what": "layers", "ratio": 5, "labels": 12}
    colours: dict[str, Any] = {"cmap": SCORE, "vmin": low, "vmax": high}
    axes, bar, mesh = panel(figure, slot, task, values, **look, **colours)
    axes.set(xlabel="", xticks=[])
    for layer, value in enumerate(values[:, 0], start=1):
        colour = "white" if value > low + _DARK * (high - low) else INK
        axes.text(1, layer, f"{value:.1f}", color=colour, fontsize=SMALL, ha="center", va="center")
    marked_bar(figure, bar, mesh, baseline)
