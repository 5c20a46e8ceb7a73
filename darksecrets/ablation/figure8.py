"""Figure 8: the score of every task with one head disabled at a time (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from darksecrets.ablation.panels import EFFECT, by_panel, legend, mark, scale, significant, title
from darksecrets.ablation.tables import HEAD_ABLATION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import marked_bar, panel, panel_figure
from darksecrets.plotting.style import SCORE, grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec


def figure8(table: pd.DataFrame, metrics: Mapping[str, Sequence[str]], run_label: str) -> Figure:
    """Draw a heatmap of layers × heads per task and metric, the baseline marked on its colour bar.

    As in the paper: layer 1 at the top, darker = greater score, one scale per task, an orange
    line for the intact model. Seeds are averaged. Triangles mark significant differences to the
    intact model, and every scale is at least as wide as the noise (`panels.scale`).

    Args:
        table: `head_ablation.csv`.
        metrics: Metrics of the tasks to draw, in this order; the first one is drawn, and accuracy.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, tasks, layers or heads are missing.
    """
    tables = by_panel(table, metrics, ["layer", "head", *EFFECT], "head_ablation.csv")
    return panel_figure(tables, _panel, legend, run_label)


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return figure8(sources.table(HEAD_ABLATION), sources.metrics, sources.label)


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    values = grid(rows, "score")
    low, high = scale(values, rows)
    colours: dict[str, Any] = {"cmap": SCORE, "vmin": low, "vmax": high}
    axes, bar, mesh = panel(figure, slot, task, values, title=title(rows), **colours)
    mark(axes, significant(rows))
    marked_bar(figure, bar, mesh, float(rows["baseline"].mean()))
