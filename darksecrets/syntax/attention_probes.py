"""How well probes parse by attention, after Table 3 of Clark et al. (2019)."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    BAND,
    COLUMN,
    INK,
    MARK,
    check_columns,
    label_run,
    new_figure,
    style,
)
from darksecrets.run.errors import InputError
from darksecrets.syntax.probe_tables import (
    ATTENTION,
    ATTENTION_AND_WORDS,
    ATTENTION_PROBES,
    DISTANCES,
    DISTANCES_AND_WORDS,
    NEXT,
    OFFSET,
)

NAMES = {
    ATTENTION_AND_WORDS: "Attention and words",
    ATTENTION: "Attention",
    DISTANCES_AND_WORDS: "Distances and words",
    DISTANCES: "Distances",
    OFFSET: "Best fixed offset",
    NEXT: "Next word",
}
"""Probes from the top, and what the figure calls them."""
_OF_ATTENTION = (ATTENTION_AND_WORDS, ATTENTION)
_MARKS: dict[str, dict[str, Any]] = {
    "random": {"marker": "x", "color": INK, "markersize": 4, "markeredgewidth": 0.9},
    "shuffled": {"marker": "|", "color": INK, "markersize": 8, "markeredgewidth": 1.2},
}
_LEGEND = ["random weights", "words of the trees exchanged"]


def attention_probes(table: pd.DataFrame, run_label: str) -> Figure:
    """Draw the attachment scores of all probes, and of the controls of those of attention.

    Args:
        table: `attention_probes.csv`.
        run_label: The run, its model and its treebank in a few words, for the small print.

    Raises:
        InputError: Columns or rows are missing.
    """
    needed = ["state", "probe", "uas", "uas_low", "uas_high", *_MARKS]
    check_columns(table, needed, "attention_probes.csv")
    rows = table[table["state"] == "pretrained"].set_index("probe").reindex(list(NAMES))
    if rows["uas"].isna().any():
        missing = ", ".join(rows.index[rows["uas"].isna()])
        raise InputError(
            f"The table attention_probes.csv has no rows of {missing}. Make the table again."
        )
    with style():
        figure = new_figure(COLUMN, 1.9)
        axes = figure.subplots()
        places = range(len(rows))
        colours = [MARK if probe in _OF_ATTENTION else BAND for probe in rows.index]
        axes.barh(places, rows["uas"], color=colours, height=0.7)
        axes.hlines(places, rows["uas_low"], rows["uas_high"], color=INK, linewidth=0.9)
        for place, value, end in zip(places, rows["uas"], rows["uas_high"], strict=True):
            right = value if pd.isna(end) else end
            axes.text(right + 0.015, place, f"{value:.2f}", va="center", fontsize=6)
        for column, look in _MARKS.items():
            axes.plot(rows[column], places, linestyle="", **look)
        axes.set_yticks(places, list(NAMES.values()))
        axes.set(xlim=(0, 1.1), ylim=(len(rows) - 0.5, -0.5))
        axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
        axes.set_xlabel("Share of heads of words found (UAS)")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        handles = [Line2D([], [], linestyle="", **look) for look in _MARKS.values()]
        figure.legend(handles, _LEGEND, loc="outside upper left", ncols=2, handlelength=1)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return attention_probes(sources.table(ATTENTION_PROBES), sources.label)
