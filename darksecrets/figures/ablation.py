"""What the figures of disabled heads and layers share (section 4.6): rows, scales, the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from darksecrets.errors import InputError
from darksecrets.figures.style import BASELINE, INK, SMALL, check_columns
from darksecrets.table1 import METRICS
from darksecrets.tasks import TASKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

STATE = "finetuned"
"""The state whose heads the paper disables."""


def rows_of(table: pd.DataFrame, task: str, columns: list[str], name: str) -> pd.DataFrame:
    """Rows of a task's fine-tuned models, for the first of its metrics.

    Raises:
        InputError: When columns or rows are missing.
    """
    check_columns(table, ["task", "state", "seed", "metric", *columns], name)
    metric = TASKS[task].metrics[0]
    chosen = (table["task"] == task) & (table["state"] == STATE) & (table["metric"] == metric)
    if not chosen.any():
        raise InputError(
            f"The table {name} has no {metric} of {STATE} models for {task}. Make the table again."
        )
    return table[chosen]


def title(task: str) -> str:
    """A task and the score that is drawn."""
    return f"{task} ({METRICS[TASKS[task].metrics[0]]})"


def limits(scores: NDArray[np.float64], baseline: float) -> tuple[float, float]:
    """Ends of a colour scale that holds all scores and the baseline, never equal."""
    low, high = float(min(scores.min(), baseline)), float(max(scores.max(), baseline))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def score_bar(figure: Figure, axes: Axes, mesh: QuadMesh, baseline: float) -> None:
    """Colour bar of one panel, the baseline marked on it as the paper does, its value above."""
    bar = figure.colorbar(mesh, cax=axes)
    bar.outline.set_visible(False)  # type: ignore[operator]
    axes.axhline(baseline, color=BASELINE, linewidth=2)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.tick_params(length=0, labelsize=SMALL)
    axes.set_title(f"{baseline:.1f}", fontsize=SMALL, color=INK)


def legend(figure: Figure, what: str) -> None:
    """Say above the panels what colours and the line mean."""
    line = Line2D([], [], color=BASELINE, linewidth=2)
    label = f"no {what} disabled (value above the bar); darker = greater score"
    figure.legend([line], [label], loc="outside upper center", handlelength=1.2)
