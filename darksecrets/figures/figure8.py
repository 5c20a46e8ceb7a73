"""Figure 8: the score of every task with one head disabled at a time (section 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.gridspec import GridSpecFromSubplotSpec

from darksecrets.figures.ablation import legend, limits, rows_of, score_bar, title
from darksecrets.figures.style import (
    COLUMN,
    PAGE,
    SCORE,
    blocks,
    grid,
    heatmap,
    label_run,
    new_figure,
    style,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec


def figure8(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw one heatmap of layers × heads per task, the baseline marked on its colour bar.

    As in the paper: layer 1 at the top, darker = greater score, a scale for every task, an orange
    line for the intact model. The score is the first of the task's metrics; seeds are averaged.

    Args:
        table: `head_ablation.csv`.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, tasks, layers or heads are missing.
    """
    columns = ["layer", "head", "baseline", "score"]
    panels = {task: rows_of(table, task, columns, "head_ablation.csv") for task in tasks}
    rows, beside = blocks(len(tasks))
    width = COLUMN if beside <= 2 else PAGE
    panel = 0.55 + 0.6 * width / beside
    with style():
        figure = new_figure(width, rows * panel + 0.4)
        slots = figure.add_gridspec(rows, beside)
        for index, (task, scores) in enumerate(panels.items()):
            _panel(figure, slots[index // beside, index % beside], task, scores)
        legend(figure, "head")
        label_run(figure, run_label)
    return figure


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    values, baseline = grid(rows, "score"), float(rows["baseline"].mean())
    low, high = limits(values, baseline)
    inner = GridSpecFromSubplotSpec(1, 2, slot, width_ratios=[12, 1], wspace=0.0)
    axes = figure.add_subplot(inner[0, 0], label=f"{task} heads")
    mesh = heatmap(axes, values, cmap=SCORE, vmin=low, vmax=high)
    axes.set_title(title(task))
    if not slot.is_first_col():
        axes.set_ylabel("")
    score_bar(figure, figure.add_subplot(inner[0, 1], label=f"{task} bar"), mesh, baseline)
