"""Figure 6: attention to [SEP] and [CLS] per head, after fine-tuning (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from darksecrets.features.tables import STRIPES
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import Row, head_grid, largest, maps_of
from darksecrets.plotting.style import check_columns

ROWS = ("[SEP]", "[CLS]")


def figure6(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw a row of heatmaps for [SEP] and one for [CLS] on one scale, as the paper does.

    Args:
        table: Columns ``task``, ``state``, ``feature``, ``layer``, ``head``, ``weight``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns, layers or heads are missing.
    """
    check_columns(table, ["task", "state", "feature", "layer", "head", "weight"], "stripes.csv")
    finetuned = table[table["state"] == "finetuned"]
    maps = {
        name: maps_of(finetuned[finetuned["feature"] == name], tasks, "weight") for name in ROWS
    }
    limit = largest(*maps.values())
    rows = [Row(name, maps[name], "Mean weight", limit) for name in ROWS]
    return head_grid(rows, tasks, run_label)


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return figure6(sources.table(STRIPES), sources.tasks, sources.label)
