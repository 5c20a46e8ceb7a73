"""Whether the same heads matter for different tasks (section 4.6): rank correlations of effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from darksecrets.ablation.panels import STATE
from darksecrets.ablation.tables import TASK_AGREEMENT
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    COLUMN,
    INK,
    SCORE,
    SMALL,
    UNKNOWN,
    check_columns,
    colour_bar,
    label_run,
    new_figure,
    style,
)
from darksecrets.run.errors import InputError
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_DARK = 0.6  # text is white above this share of the colour scale


def task_agreement(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw a matrix of tasks: the rank correlation of the heads' effects on every two of them.

    On the diagonal are the correlations between seeds of one task, the most that can be expected
    between tasks; it is grey with one seed. Bold numbers are significant after correction if heads
    are permuted within their layers, numbers with a star only if they are permuted over all layers.

    Args:
        table: `task_agreement.csv`.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns are missing, or there is nothing to compare.
    """
    columns = ["state", "task", "other_task", "spearman", "q_value", "q_within_layers"]
    check_columns(table, columns, "task_agreement.csv")
    rows = table[(table["state"] == STATE) & table["task"].isin(tasks)]
    if rows.empty:
        raise InputError(
            f"task_agreement.csv: found no rows of {STATE} models for {', '.join(tasks)}; expected "
            "several tasks, or several seeds of one. Run more of them."
        )
    with style():
        figure = new_figure(COLUMN, COLUMN * 0.95)
        axes = figure.add_subplot(label="tasks")
        image = _matrix(axes, rows, list(tasks))
        colour_bar(figure, image, "Rank correlation of heads' effects", ax=axes)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return task_agreement(sources.table(TASK_AGREEMENT), sources.tasks, sources.label)


def _matrix(axes: Axes, rows: pd.DataFrame, tasks: list[str]) -> AxesImage:
    values = np.full((len(tasks), len(tasks)), np.nan)
    low = min(0.0, float(rows["spearman"].min(skipna=True)))
    for row in rows.to_dict("records"):
        one, other = sorted(map(tasks.index, (row["task"], row["other_task"])))
        values[other, one] = row["spearman"]
        if np.isfinite(values[other, one]):
            _write(axes, one, other, row, dark=values[other, one] > low + _DARK * (1 - low))
    for y, x in np.argwhere(np.isnan(values) & np.tri(len(tasks), dtype=bool)):
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=UNKNOWN, linewidth=0))
    image = axes.imshow(values, cmap=SCORE, vmin=low, vmax=1)
    axes.set_xticks(range(len(tasks)), tasks, rotation=45, ha="right")
    axes.set_yticks(range(len(tasks)), tasks)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="Task", ylabel="Task")
    return image


def _write(axes: Axes, x: int, y: int, row: Mapping[Any, Any], *, dark: bool) -> None:
    """Write a correlation into its cell."""
    beyond_layers = row["q_within_layers"] < LEVEL
    star = "*" if row["q_value"] < LEVEL and not beyond_layers else ""
    axes.text(
        *(x, y, f"{row['spearman']:.2f}{star}"),
        color="white" if dark else INK,
        fontsize=SMALL,
        weight="bold" if beyond_layers else "normal",
        ha="center",
        va="center",
    )
