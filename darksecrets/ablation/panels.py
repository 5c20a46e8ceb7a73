"""What the figures of disabled heads and layers share: rows, scale, marks, legend (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from darksecrets.data.metrics import METRICS, PERCENT
from darksecrets.plotting.panels import limits
from darksecrets.plotting.style import BASELINE, INK, PAGE, SCORE, check_columns, grid, wrapped
from darksecrets.run.errors import InputError
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

EFFECT = ("baseline", "score", "delta", "ci_low", "ci_high", "q_value")
"""Columns with the score of a disabled set, and what its difference to the baseline is worth."""

MARKS: Mapping[int, tuple[str, str]] = {
    1: ("^", "significantly higher"),
    -1: ("v", "significantly lower"),
}
"""Marker of sets without which the score is significantly higher or lower, and what it means."""

ACCURACY = "accuracy"
STATE = "finetuned"
"""The state whose heads the paper disables."""


def rows_of(
    table: pd.DataFrame, task: str, metric: str, columns: list[str], name: str
) -> pd.DataFrame:
    """Rows of a task's fine-tuned models, for one of its metrics.

    Raises:
        InputError: When columns or rows are missing.
    """
    check_columns(table, ["task", "state", "seed", "metric", *columns], name)
    chosen = (table["task"] == task) & (table["state"] == STATE) & (table["metric"] == metric)
    if not chosen.any():
        raise InputError(
            f"The table {name} has no {metric} of {STATE} models for {task}. Make the table again."
        )
    return table[chosen]


def by_panel(
    table: pd.DataFrame, metrics: Mapping[str, Sequence[str]], columns: list[str], name: str
) -> dict[str, pd.DataFrame]:
    """Rows of every panel: each task on its first metric, and on accuracy if it has that.

    The paper speaks of accuracy where tasks are scored by F1 first.

    Args:
        table: Effects of all models.
        metrics: Metrics of the tasks to draw, the main one first.
        columns: Columns to draw.
        name: Name of the table in messages.

    Raises:
        InputError: When columns or rows are missing.
    """
    panels = {}
    for task, of_task in metrics.items():
        for metric in dict.fromkeys([of_task[0], *(m for m in of_task if m == ACCURACY)]):
            panel = task if metric == of_task[0] else f"{task} {metric}"
            panels[panel] = rows_of(table, task, metric, columns, name)
    return panels


def title(rows: pd.DataFrame) -> str:
    """Title of a panel: the task and the score of the rows drawn."""
    task = rows["task"].iloc[0]
    return wrapped(f"{task} ({METRICS[rows['metric'].iloc[0]].title})", PAGE / 4)


def scale(values: NDArray[np.float64], rows: pd.DataFrame) -> tuple[float, float]:
    """Limits of a panel's colours.

    They include all values and, around the intact model's score, at least two standard errors of a
    difference to it (half of its interval, root mean square over the rows): where no set matters,
    noise stays in the middle of the scale.

    Args:
        values: Scores to draw.
        rows: The rows they are from, with the columns `EFFECT`.
    """
    noise = float(np.sqrt((((rows["ci_high"] - rows["ci_low"]) / 2) ** 2).mean()))
    low, high = limits(values, float(rows["baseline"].mean()), noise)
    return low, min(high, PERCENT)


def significant(rows: pd.DataFrame) -> NDArray[np.int64]:
    """[layer, head] 1 where the score is significantly higher without the head, -1 where lower.

    It is for more than half of the seeds in the same direction, after correction; 0 elsewhere.
    """
    signs = np.sign(rows["delta"]).where(rows["q_value"] < LEVEL, 0)
    of_seeds = [grid(rows.assign(own=signs.eq(sign).astype(float)), "own") for sign in (1, -1)]
    higher, lower = ((share > 0.5).astype(np.int64) for share in of_seeds)
    return higher - lower


def mark(axes: Axes, signs: NDArray[np.int64], *, across: float = 0.0, size: float = 3.5) -> None:
    """Put triangles on the cells of a heatmap whose scores are significantly higher or lower.

    Args:
        axes: The heatmap.
        signs: From `significant`.
        across: Where in the cell, from -0.5 (left) to 0.5.
        size: Of the triangles, in points.
    """
    for sign, (marker, _) in MARKS.items():
        layers, heads = np.nonzero(signs == sign)
        line = Line2D(heads + 1 + across, layers + 1, label=f"significant {sign}", **_look(marker))
        axes.add_line(line).set_markersize(size)


def _look(marker: str) -> dict[str, Any]:
    fill = {"markerfacecolor": "white", "markeredgecolor": INK, "markeredgewidth": 0.5}
    return {"marker": marker, "linestyle": "none", "markersize": 4, **fill}


def legend(figure: Figure, beside: int) -> None:
    """Explain the line of the intact model, the colours and the marks above the panels.

    Args:
        figure: The figure.
        beside: Number of panels in a row.
    """
    entries = {
        "intact model": Line2D([], [], color=BASELINE, linewidth=2),
        "greater score": Patch(color=mpl.colormaps[SCORE](0.9)),
    }
    entries |= {text: Line2D([], [], **_look(marker)) for marker, text in MARKS.values()}
    columns = len(entries) if beside > 2 else 2
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": columns, "handlelength": 1.2}
    figure.legend(list(entries.values()), list(entries), **place)
