"""Figure 9: the score of every task with one layer disabled at a time (section 4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.gridspec import GridSpecFromSubplotSpec

from darksecrets.figures.ablation import legend, limits, rows_of, score_bar, title
from darksecrets.figures.style import (
    COLUMN,
    INK,
    PAGE,
    SCORE,
    SMALL,
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

_DARK = 0.6  # of the colour scale: above, text is white


def figure9(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw one column of layers per task, its scores written in, the baseline on its colour bar.

    As in the paper: layer 1 at the top, darker = greater score, a scale for every task, an orange
    line for the intact model. The score is the first of the task's metrics; seeds are averaged.

    Args:
        table: `layer_ablation.csv`.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, tasks or layers are missing.
    """
    columns = ["layer", "baseline", "score"]
    panels = {task: rows_of(table, task, columns, "layer_ablation.csv") for task in tasks}
    layers = max(rows["layer"].nunique() for rows in panels.values())
    rows, beside = blocks(len(tasks))
    with style():
        figure = new_figure(COLUMN if beside <= 2 else PAGE, rows * (0.5 + 0.11 * layers) + 0.4)
        slots = figure.add_gridspec(rows, beside)
        for index, (task, scores) in enumerate(panels.items()):
            _panel(figure, slots[index // beside, index % beside], task, scores)
        legend(figure, "layer")
        label_run(figure, run_label)
    return figure


def _panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
    values, baseline = grid(rows.assign(head=1), "score"), float(rows["baseline"].mean())
    low, high = limits(values, baseline)
    inner = GridSpecFromSubplotSpec(1, 2, slot, width_ratios=[5, 1], wspace=0.0)
    axes = figure.add_subplot(inner[0, 0], label=f"{task} layers")
    mesh = heatmap(axes, values, cmap=SCORE, vmin=low, vmax=high, labels=12)
    axes.set(title=title(task), xlabel="", xticks=[])
    if not slot.is_first_col():
        axes.set_ylabel("")
    for layer, value in enumerate(values[:, 0], start=1):
        colour = "white" if value > low + _DARK * (high - low) else INK
        axes.text(1, layer, f"{value:.1f}", color=colour, fontsize=SMALL, ha="center", va="center")
    score_bar(figure, figure.add_subplot(inner[0, 1], label=f"{task} bar"), mesh, baseline)
