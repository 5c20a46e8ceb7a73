"""Scores of subnetworks against the weights that are left (Prasanna et al. 2020, figure 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.lines import Line2D

from darksecrets.ablation.panels import rows_of, title
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.panels import panel_figure
from darksecrets.plotting.style import GREY, INK
from darksecrets.subnetworks.tables import (
    AS_IT_IS,
    BAD,
    GOOD,
    MAGNITUDE_PRUNING,
    RANDOM,
    SUBNETWORK_SCORES,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

_LOOKS: dict[str, dict[str, Any]] = {
    GOOD: {"color": "#0072B2", "marker": "o"},
    RANDOM: {"color": GREY, "marker": "s"},
    BAD: {"color": "#D55E00", "marker": "v"},
}
_MAGNITUDE: dict[str, Any] = {"color": "#009E73", "marker": ".", "linewidth": 0.8}
_INTACT: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": "--"}
_CHANCE: dict[str, Any] = {"color": INK, "linewidth": 0.7, "linestyle": ":"}
_APART = 1.6
"""Points (%) between subnetworks of the same size, so that their intervals can be told apart."""
_SHARED = ["weights", "baseline", "score", "ci_low", "ci_high", "chance"]


def subnetwork_scores(
    scores: pd.DataFrame, magnitude: pd.DataFrame, tasks: Mapping[str, str], run_label: str
) -> Figure:
    """Draw the score of every task against the share of weights that is left.

    Lines through dots, and the band, are 95 % intervals of the difference to the whole model, drawn
    around its score. Scores, shares and ends of intervals are averaged over seeds. Filled dots are
    subnetworks as they are, hollow ones those that were trained again.

    Args:
        scores: `subnetwork_scores.csv`.
        magnitude: `magnitude_pruning.csv`.
        tasks: The tasks to draw, in this order, with the metric to draw of each.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: When columns or tasks are missing.
    """
    retrained = bool((scores["trained"] != AS_IT_IS).any())
    tables = {
        task: rows_of(
            scores, task, metric, ["subnetwork", "trained", *_SHARED], "subnetwork_scores.csv"
        )
        for task, metric in tasks.items()
    }

    def draw_panel(figure: Figure, slot: SubplotSpec, task: str, rows: pd.DataFrame) -> None:
        pruned = rows_of(magnitude, task, tasks[task], _SHARED, "magnitude_pruning.csv")
        _panel(figure, slot, rows, pruned)

    def add_legend(figure: Figure, columns: int) -> None:
        _legend(figure, columns, retrained=retrained)

    return panel_figure(
        *(tables, draw_panel, add_legend, run_label), height=lambda width: 0.4 + 0.75 * width
    )


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    tasks = {task: sources.main_metrics[task] for task in sources.tasks}
    magnitude = sources.table(MAGNITUDE_PRUNING, "magnitude")
    return subnetwork_scores(sources.table(SUBNETWORK_SCORES), magnitude, tasks, sources.label)


def _means(rows: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Means over seeds, in percent of the weights; ends of intervals around the whole's score."""
    ends = {end: rows["baseline"] + rows[f"ci_{end}"] for end in ("low", "high")}
    table = rows.assign(percent=100 * rows["weights"], **ends)
    return table.groupby(list(by), sort=False)[["percent", "score", "low", "high"]].mean()


def _panel(figure: Figure, slot: SubplotSpec, rows: pd.DataFrame, pruned: pd.DataFrame) -> None:
    axes = figure.add_subplot(slot, label=str(rows["task"].iloc[0]))
    axes.axhline(rows["baseline"].mean(), label="whole", zorder=1, **_INTACT)
    axes.axhline(rows["chance"].mean(), label="chance", zorder=1, **_CHANCE)
    line = _means(pruned, "weights")
    axes.fill_between(
        line["percent"], line["low"], line["high"], color="#009E73", alpha=0.15, linewidth=0
    )
    axes.plot(line["percent"], line["score"], label="magnitude", **_MAGNITUDE)
    for row in _means(rows, "subnetwork", "trained").reset_index().to_dict("records"):
        _dot(axes, row)
    axes.set_title(title(rows))
    axes.set_xlim(100, 0)
    if slot.is_first_col():
        axes.set_ylabel("Score")
    if slot.is_last_row():
        axes.set_xlabel("Weights left (%)")


def _dot(axes: Axes, row: Mapping[Any, Any]) -> None:
    look, hollow = _LOOKS[row["subnetwork"]], row["trained"] != AS_IT_IS
    aside = _APART * (list(_LOOKS.values()).index(look) - 1 - len(_LOOKS) * hollow)
    place = row["percent"] + aside
    axes.plot([place] * 2, [row["low"], row["high"]], color=look["color"], linewidth=0.8)
    fill: dict[str, Any] = {"markerfacecolor": "white"} if hollow else {}
    axes.plot([place], [row["score"]], linestyle="none", markersize=4, **look, **fill)


def _legend(figure: Figure, columns: int, *, retrained: bool) -> None:
    plain: dict[str, Any] = {"linestyle": "none", "markersize": 4}
    entries = {name: Line2D([], [], **plain, **look) for name, look in _LOOKS.items()}
    if retrained:
        hollow = {**_LOOKS[GOOD], "color": INK, "markerfacecolor": "white"}
        entries["trained again"] = Line2D([], [], **plain, **hollow)
    entries["magnitude pruning"] = Line2D([], [], **_MAGNITUDE)
    entries |= {"whole model": Line2D([], [], **_INTACT)}
    entries |= {"most frequent label": Line2D([], [], **_CHANCE)}
    figure.legend(
        list(entries.values()),
        list(entries),
        loc="outside upper center",
        ncols={1: 2, 2: 3}.get(columns, 7),
        handlelength=1.8,
        columnspacing=1,
    )
