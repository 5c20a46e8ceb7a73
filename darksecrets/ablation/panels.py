"""What the figures of disabled heads and layers share: rows, title and legend (section 4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.lines import Line2D

from darksecrets.data.metrics import METRICS
from darksecrets.plotting.style import BASELINE, PAGE, check_columns, wrapped
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def legend(figure: Figure, what: str) -> None:
    """Explain the colours and the line above the panels."""
    line = Line2D([], [], color=BASELINE, linewidth=2)
    label = f"no {what} disabled (value above the bar); darker = greater score"
    figure.legend([line], [label], loc="outside upper center", handlelength=1.2)
