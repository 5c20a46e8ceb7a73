"""Attention between verbs and subjects, pronouns and nouns (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from darksecrets.features.labels import RELATIONS
from darksecrets.features.tables import TOKEN_PAIR_CORRELATIONS, TOKEN_PAIRS
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.head_grid import MOST
from darksecrets.plotting.style import (
    GREY,
    INK,
    MARK,
    SMALL,
    WEIGHT,
    blocks,
    check_columns,
    colour_bar,
    label_run,
    new_figure,
    style,
    width_for,
    wrapped,
)
from darksecrets.run.numbers import written
from darksecrets.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

_NAMED = 3  # heads whose layer and head are written, of those that are marked in a panel
_NUMBERS = ["weight", "control", "diagonal", "passes"]


def token_pairs(
    table: pd.DataFrame, tasks: Sequence[str], run_label: str, *, correlations: pd.DataFrame
) -> Figure:
    """Draw the weight of related pairs against that of random pairs, a panel per task and relation.

    Each dot is a head, darker = greater diagonal score. On the line, a head gives related pairs as
    much weight as any tokens at the same distance. A ring marks heads that exceed all controls,
    with every seed (q < 0.05); those furthest above the line are named by layer and head. Two
    correlations over heads with the diagonal score are written: of the weight, and of its excess.
    Heads with local attention that can reach no related tokens are left out.

    Args:
        table: Columns ``task``, ``state``, ``relation``, ``layer``, ``head``, ``weight``,
            ``control``, ``diagonal``, ``q_value``, ``examples``; rows of `finetuned` are drawn, of
            both tables. Several seeds are averaged.
        tasks: The tasks to draw, in this order.
        run_label: The run, its model and its data in a few words, for the small print.
        correlations: Columns ``task``, ``state``, ``relation``, ``weight``, ``over_control``; means
            over seeds are shown.

    Raises:
        InputError: When columns are missing.
    """
    columns = ["task", "state", "relation", "layer", "head", "weight", "control", "diagonal"]
    check_columns(table, [*columns, "q_value", "examples"], "token_pairs.csv")
    columns = ["task", "state", "relation", "weight", "over_control"]
    check_columns(correlations, columns, "token_pair_correlations.csv")
    rows = table[(table["state"] == "finetuned") & (table["examples"] > 0)]
    rows = rows.assign(passes=rows["q_value"] < LEVEL)
    heads = rows.groupby(["task", "relation", "layer", "head"])[_NUMBERS].mean().reset_index()
    groups, beside = blocks(len(tasks), MOST)
    width = width_for(beside)
    with style():
        side = min((width - 0.7) / beside, 1.1)
        figure = new_figure(width, groups * (len(RELATIONS) * (side + 0.2) + 0.2) + 0.9)
        axes = figure.subplots(
            groups * len(RELATIONS), beside, sharex=True, sharey=True, squeeze=False
        )
        dots = None
        for number, task in enumerate(tasks):
            group, column = divmod(number, beside)
            for row, relation in enumerate(RELATIONS):
                panel = axes[group * len(RELATIONS) + row, column]
                panel.set_label(f"{task} {relation}")
                some = heads[(heads["task"] == task) & (heads["relation"] == relation)]
                dots = _panel(panel, some) or dots
                panel.set_title("" if row else wrapped(task, width / beside))
                below = [_correlation(correlations, task, relation)]
                below += ["Random tokens"] * (relation == RELATIONS[-1])
                panel.set_xlabel("\n".join(below), fontsize=SMALL)
                if column == 0:
                    panel.set_ylabel(relation.replace(" to ", " →\n"))
        for panel in axes.ravel():
            if not panel.get_label():
                panel.remove()
        figure.supylabel("Weight between related tokens", fontsize=SMALL)
        _legend(figure, beside)
        if dots is not None:
            text = "Diagonal score of the head (darker = greater)"
            colour_bar(figure, dots, text, ax=figure.axes, location="bottom", shrink=0.6, aspect=45)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    correlations = sources.table(TOKEN_PAIR_CORRELATIONS, "correlations")
    table = sources.table(TOKEN_PAIRS)
    return token_pairs(table, sources.tasks, sources.label, correlations=correlations)


def _panel(axes: Axes, heads: pd.DataFrame) -> PathCollection | None:
    """Draw the heads of one task and relation; None if the task has no such tokens."""
    roots: dict[str, Any] = {"functions": (np.sqrt, np.square)}  # most weights are small
    axes.set_xscale("function", **roots)
    axes.set_yscale("function", **roots)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_xticks([0, 0.25, 1], labels=["0", "¼", "1"])
    axes.set_yticks([0, 0.25, 1], labels=["0", "¼", "1"])
    if heads.empty:
        place: dict[str, Any] = {"transform": axes.transAxes, "ha": "center", "va": "center"}
        axes.text(0.5, 0.5, "none", color=GREY, **place)
        return None
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.5, zorder=1)
    heads = heads.sort_values("diagonal")
    look: dict[str, Any] = {"cmap": WEIGHT, "vmin": 0, "vmax": 1, "linewidths": 0.3}
    look |= {"edgecolors": INK, "clip_on": False, "zorder": 2, "label": "heads"}
    dots = axes.scatter(heads["control"], heads["weight"], 7, c=heads["diagonal"], **look)
    marked = heads[heads["passes"] == 1]
    ring: dict[str, Any] = {
        "facecolors": "none",
        "edgecolors": MARK,
        "linewidths": 0.9,
        "zorder": 3,
    }
    axes.scatter(marked["control"], marked["weight"], 22, clip_on=False, label="exceed", **ring)
    corner: dict[str, Any] = {
        "transform": axes.transAxes,
        "ha": "right",
        "va": "bottom",
        "fontsize": SMALL,
    }
    axes.text(1, 0.03, _names(marked), color=MARK, **corner)
    return dots


def _names(marked: pd.DataFrame) -> str:
    """The marked heads as layer-head, those with the greatest excess first, two in a line."""
    marked = marked.assign(excess=marked["weight"] - marked["control"])
    furthest = marked.nlargest(_NAMED, "excess")
    names = [f"{row['layer']}-{row['head']}" for row in furthest.to_dict("records")]
    if len(marked) > _NAMED:
        names.append(f"+{len(marked) - _NAMED}")
    return "\n".join(names)


def _legend(figure: Figure, beside: int) -> None:
    ring: dict[str, Any] = {
        "linestyle": "none",
        "marker": "o",
        "markerfacecolor": "none",
        "markeredgecolor": MARK,
        "markersize": 4.5,
    }
    entries = [
        Line2D([], [], color=GREY, linewidth=0.5, label="as much as between random tokens"),
        Line2D([], [], label="exceeds all controls: layer-head", **ring),
    ]
    columns = 1 if beside <= 2 else len(entries)
    figure.legend(handles=entries, loc="outside upper center", ncols=columns)


def _correlation(correlations: pd.DataFrame, task: str, relation: str) -> str:
    """The two correlations with the diagonal score, means over seeds."""
    mine = correlations[
        (correlations["state"] == "finetuned")
        & (correlations["task"] == task)
        & (correlations["relation"] == relation)
    ]
    values = mine[["weight", "over_control"]].mean()
    if np.isnan(values.to_numpy(np.float64)).any():
        return ""
    return "r = " + ", ".join(written(value, ".2f") for value in values)
