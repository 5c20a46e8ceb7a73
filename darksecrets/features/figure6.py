"""Figure 6: attention to [SEP] and [CLS] per head, after fine-tuning (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from darksecrets.features.tables import STRIPES
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import Row, divide, head_grid, largest, maps_of
from darksecrets.plotting.style import check_columns

ROWS = ("[SEP]", "[CLS]")
UNIFORM = 1.0
"""Ratio of uniform attention to itself, marked on the colour bar."""


STATE = "finetuned"
"""The state whose heads the paper shows."""
TITLE = "Attention to [SEP] and [CLS] after fine-tuning, relative to uniform attention"


def figure6(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw a row of heatmaps for [SEP] and one for [CLS] on one scale, as the paper does.

    Weights are divided by those under uniform attention, 1 / L: the same weight is much in a long
    input and little in a short one.

    Args:
        table: Columns ``task``, ``state``, ``feature``, ``layer``, ``head``, ``weight``,
            ``uniform``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    columns = ["task", "state", "feature", "layer", "head", "weight", "uniform"]
    check_columns(table, columns, "stripes.csv")
    finetuned = table[table["state"] == STATE]
    maps = {}
    for name in ROWS:
        rows = finetuned[finetuned["feature"] == name]
        weight, uniform = (maps_of(rows, tasks, column) for column in ("weight", "uniform"))
        maps[name] = divide(weight, uniform)
    limit = max(largest(*maps.values()), UNIFORM)
    look: dict[str, Any] = {
        "scale": "Weight ÷ (1/L); line: uniform",
        "limit": limit,
        "reference": UNIFORM,
    }
    rows_of_figure = [Row(name, maps[name], **look) for name in ROWS]
    return head_grid(rows_of_figure, tasks, run_label, title=TITLE)


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return figure6(sources.table(STRIPES), sources.tasks, sources.label)
