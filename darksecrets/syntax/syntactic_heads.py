"""Which heads follow which syntactic relations, after Table 1 of Clark et al. (2019)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    BASELINE,
    COLUMN,
    GREY,
    INK,
    MARK,
    WEIGHT,
    check_columns,
    colour_bar,
    grid,
    heatmap,
    label_run,
    new_figure,
    style,
)
from darksecrets.run.columns import RANDOM
from darksecrets.run.errors import InputError
from darksecrets.syntax.tables import (
    ALL,
    DEPENDENT_TO_HEAD,
    HEAD_TO_DEPENDENT,
    NO,
    OPEN,
    SYNTACTIC_HEADS,
    YES,
)

_MOST = 20
"""Labels that are drawn, the most frequent ones."""
_ARROWS = {DEPENDENT_TO_HEAD: "→", HEAD_TO_DEPENDENT: "←"}
_FACES = {YES: MARK, OPEN: "white", NO: INK}
_EDGES = {YES: MARK, OPEN: MARK, NO: INK}
_NAMES = {
    YES: "best head: exceeds all controls",
    OPEN: "the same, without one for parts of speech",
    NO: "best head: does not",
}
COLUMNS = (
    *("state", "label", "direction", "layer", "head", "arcs", "accuracy", "accuracy_low"),
    *("accuracy_high", "selected", "at_offset", "offset", "over_offset", "syntactic"),
)


def syntactic_heads(table: pd.DataFrame, run_label: str) -> Figure:
    """Draw the best head of every label beside the best offset, and where syntactic heads are.

    Args:
        table: `syntactic_heads.csv`.
        run_label: The run, its model and its treebank in a few words, for the small print.

    Raises:
        InputError: Columns are missing, or rows of the pre-trained model.
    """
    check_columns(table, list(COLUMNS), "syntactic_heads.csv")
    trained, random = (table[table["state"] == state] for state in ("pretrained", RANDOM))
    best = trained[trained["selected"]].drop_duplicates("label").head(_MOST)
    if best.empty:
        raise InputError(
            "The table syntactic_heads.csv has no selected heads of the state pretrained. Make "
            "the table again."
        )
    by_chance = random[random["selected"]].drop_duplicates("label").set_index("label")
    above = 0.16 * len(best) + 0.45
    with style():
        figure = new_figure(COLUMN, above + 2.5)
        top, bottom = figure.subfigures(2, 1, squeeze=False, height_ratios=[above, 2.2]).ravel()
        _labels(top.subplots(), best, by_chance["accuracy"].reindex(best["label"]).to_numpy())
        axes = bottom.subplots()
        most = trained.groupby(["layer", "head"])[["over_offset"]].max().reset_index()
        values = np.maximum(grid(most, "over_offset"), 0)
        mesh = heatmap(axes, values, cmap=WEIGHT, vmin=0, vmax=max(values.max(), 0.01), labels=6)
        colour_bar(bottom, mesh, "over the best offset", ax=axes, shrink=0.8)
        axes.set_title("Heads: most over the best offset, any relation", loc="left")
        _marks(axes, trained, values.shape)
        figure.legend(
            _handles(best), _legend(best), loc="outside upper left", ncols=1, handlelength=1
        )
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return syntactic_heads(sources.table(SYNTACTIC_HEADS), sources.label)


def _labels(axes: Axes, best: pd.DataFrame, by_chance: npt.NDArray[np.float64]) -> None:
    """A row for every label: its best head with interval, the best offset, random weights."""
    rows = np.arange(len(best))
    values = best["accuracy"].to_numpy()
    ends = best[["accuracy_low", "accuracy_high"]].to_numpy(dtype=float).T
    axes.hlines(rows, *ends, color=INK, linewidth=0.8, zorder=2)
    for row, value, verdict in zip(rows, values, best["syntactic"], strict=True):
        look: dict[str, Any] = {"color": _FACES[verdict], "markeredgecolor": _EDGES[verdict]}
        axes.plot(value, row, "o", markersize=4, markeredgewidth=0.8, zorder=3, **look)
    axes.plot(best["at_offset"], rows, "|", color=BASELINE, markersize=8, markeredgewidth=1.6)
    axes.plot(by_chance, rows, "x", color=GREY, markersize=3.5, markeredgewidth=0.8)
    heads = [
        f"{row['label']} {row['layer']}–{row['head']} {_ARROWS[row['direction']]}"
        for row in best.to_dict("records")
    ]
    axes.set_yticks(rows, heads)
    axes.set(xlim=(-0.02, 1.02), ylim=(len(best) - 0.5, -0.5), xlabel="Share of heads found")
    axes.grid(axis="x", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    if best["label"].iloc[0] == ALL and len(best) > 1:
        axes.axhline(0.5, color="0.7", linewidth=0.5)


def _marks(axes: Axes, rows: pd.DataFrame, shape: tuple[int, ...]) -> None:
    """A dot for heads that are syntactic for some label, a ring for those that may be."""
    verdicts = {verdict: np.zeros(shape, dtype=np.bool_) for verdict in (OPEN, YES)}
    for verdict, flags in verdicts.items():
        found = rows[rows["syntactic"] == verdict]
        flags[found["layer"] - 1, found["head"] - 1] = True
    for verdict, flags in verdicts.items():
        shown = flags & ~verdicts[YES] if verdict == OPEN else flags
        layers, heads = np.nonzero(shown)
        look: dict[str, Any] = {"color": _FACES[verdict], "markeredgecolor": _EDGES[verdict]}
        axes.plot(heads + 1, layers + 1, "o", markersize=3.5, markeredgewidth=0.8, **look)


def _handles(best: pd.DataFrame) -> list[Line2D]:
    circles = [
        Line2D([], [], marker="o", linestyle="", color=_FACES[verdict], markeredgecolor=edge)
        for verdict, edge in _EDGES.items()
        if verdict in set(best["syntactic"])
    ]
    bar = Line2D([], [], marker="|", linestyle="", color=BASELINE, markeredgewidth=1.6)
    return [*circles, bar, Line2D([], [], marker="x", linestyle="", color=GREY)]


def _legend(best: pd.DataFrame) -> list[str]:
    shown = [name for verdict, name in _NAMES.items() if verdict in set(best["syntactic"])]
    return [*shown, "best offset", "best head of random weights"]
