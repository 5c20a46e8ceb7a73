"""Figure 7: what [CLS] attends to in the last layer, after fine-tuning (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from darksecrets.features.tables import CLS_ATTENTION
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    SMALL,
    WEIGHT,
    blocks,
    check_columns,
    colour_bar,
    label_run,
    new_figure,
    style,
    ticks,
    width_for,
)

FEATURES = (
    *("[CLS]", "[SEP]", "punctuation", "noun", "pronoun"),
    *("verb", "subject", "object", "negation"),
)
"""Rows of a panel, from the top."""


def figure7(table: pd.DataFrame, tasks: Sequence[str], run_label: str) -> Figure:
    """Draw one heatmap of features × heads per task; several seeds are averaged.

    Cells of a feature that is absent from the task are grey.

    Args:
        table: Columns ``task``, ``state``, ``feature``, ``head`` (from 1), ``weight``.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns are missing.
    """
    check_columns(table, ["task", "state", "feature", "head", "weight"], "cls_attention.csv")
    table = table[table["state"] == "finetuned"]
    heads = int(table["head"].max())
    maps = {
        task: table[table["task"] == task]
        .pivot_table(index="feature", columns="head", values="weight", aggfunc="mean")
        .reindex(index=list(FEATURES), columns=range(1, heads + 1))
        .to_numpy(dtype=np.float64)
        for task in tasks
    }
    rows, columns = blocks(len(tasks))
    width = width_for(columns)
    limit = max(float(np.nanmax(values)) for values in maps.values())
    with style():
        figure = new_figure(width, 1.25 * rows + 0.6)
        slots = figure.add_gridspec(rows + 1, columns, height_ratios=[1.0] * rows + [0.05])
        for index, (task, values) in enumerate(maps.items()):
            axes = figure.add_subplot(slots[index // columns, index % columns], label=task)
            axes.set_facecolor("0.85")
            mesh = axes.pcolormesh(
                np.arange(heads + 1) + 0.5,
                np.arange(len(FEATURES) + 1) - 0.5,
                np.ma.masked_invalid(values),
                cmap=WEIGHT,
                vmin=0,
                vmax=limit,
                edgecolors="white",
                linewidth=0.25,
            )
            axes.set(xlim=(0.5, heads + 0.5), ylim=(len(FEATURES) - 0.5, -0.5), title=task)
            axes.set(xticks=ticks(heads), xlabel="Head", yticks=range(len(FEATURES)))
            axes.set_yticklabels(FEATURES if index % columns == 0 else [], fontsize=SMALL)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
        beside = figure.add_subplot(slots[rows, :], label="colour bar")
        text = "Weight from [CLS] in the last layer (darker = more attention)"
        text = text if columns > 1 else text.replace(" (", "\n(")
        colour_bar(figure, mesh, text, cax=beside, orientation="horizontal")
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return figure7(sources.table(CLS_ATTENTION), sources.tasks, sources.label)
