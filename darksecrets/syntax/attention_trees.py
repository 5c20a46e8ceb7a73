"""How much trees from attention are like gold trees, beside chains (after Htut et al. 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    BAND,
    BASELINE,
    COLUMN,
    INK,
    MARK,
    WEIGHT,
    check_columns,
    colour_bar,
    grid,
    heatmap,
    label_run,
    mark_heads,
    new_figure,
    style,
    ticks,
)
from darksecrets.run.columns import RANDOM
from darksecrets.run.errors import InputError
from darksecrets.stats import LEVEL
from darksecrets.syntax.tables import ATTENTION_TREES, DEPENDENT_TO_HEAD, HEAD_TO_DEPENDENT

if TYPE_CHECKING:
    from matplotlib.collections import QuadMesh

_LOOKS: dict[str, dict[str, Any]] = {
    DEPENDENT_TO_HEAD: {"color": MARK, "marker": "o", "markeredgewidth": 0},
    HEAD_TO_DEPENDENT: {"color": "white", "marker": "o", "markeredgecolor": MARK},
}
_NAMES = {DEPENDENT_TO_HEAD: "dependents → heads", HEAD_TO_DEPENDENT: "heads → dependents"}
"""What attends to what, in the legend and above the heatmaps."""
_SCORES = {"uuas": "Without direction (UUAS)", "uas": "With direction (UAS)"}
_CHAINS: dict[str, dict[str, Any]] = {
    "uuas": {"chain": "-"},
    "uas": {"right_chain": "--", "left_chain": ":"},
}
"""Chains beside each score, and the styles of their lines."""
_NAMES_OF_CHAINS = ("chain of neighbours", "right chain", "left chain")
_BEST: dict[str, Any] = {"color": "none", "marker": "o", "markeredgecolor": INK, "markersize": 6}
_SPREAD = 0.7
"""Width of the dots of a layer."""


def attention_trees(table: pd.DataFrame, run_label: str) -> Figure:
    """Draw the scores of all heads by layer, beside chains and random weights; and a heatmap.

    Args:
        table: `attention_trees.csv`.
        run_label: The run, its model and its treebank in a few words, for the small print.

    Raises:
        InputError: Columns are missing, or rows of the pre-trained model.
    """
    scores = [f"{score}{end}" for score in _SCORES for end in ("", "_low", "_high")]
    chains = [name for of_score in _CHAINS.values() for name in of_score]
    others = ["state", "direction", "layer", "head", "selected", "over_chain", "q_value"]
    check_columns(table, [*others, *scores, *chains], ATTENTION_TREES.file)
    trained, random = (table[table["state"] == state] for state in ("pretrained", RANDOM))
    if trained.empty:
        raise InputError(
            f"The table {ATTENTION_TREES.file} has no rows of the state pretrained. Make the table "
            "again."
        )
    with style():
        figure = new_figure(COLUMN, 4.2)
        parts = figure.subfigures(2, 1, squeeze=False, height_ratios=[1.25, 1])
        top, bottom = parts[:, 0]
        panels = top.subplots(1, len(_SCORES), sharey=True)
        for axes, score in zip(panels, _SCORES, strict=True):
            _by_layer(axes, trained, random, score)
            axes.label_outer()
        highest = float(table[[*_SCORES, *chains]].to_numpy().max())
        panels[0].set(ylabel="Share of gold arcs", ylim=(0, min(1.0, 1.1 * highest)))
        _heatmaps(bottom, trained)
        figure.legend(_handles(), _labels(), loc="outside upper left", ncols=2, handlelength=1.6)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return attention_trees(sources.table(ATTENTION_TREES), sources.label)


def _by_layer(axes: Axes, trained: pd.DataFrame, random: pd.DataFrame, score: str) -> None:
    """One score: a dot for every head and direction, and what they are compared with."""
    ranges = random.groupby("layer")[score].agg(["min", "max"])
    height = ranges["max"] - ranges["min"]
    axes.bar(ranges.index, height, 0.8, ranges["min"], color=BAND, zorder=1)
    heads = int(trained["head"].max())
    places = trained["layer"] + _SPREAD * ((trained["head"] - 0.5) / heads - 0.5)
    for direction, look in _LOOKS.items():
        own = trained["direction"] == direction
        small = {"markersize": 2, "markeredgewidth": 0.5, **look}
        axes.plot(places[own], trained.loc[own, score], linestyle="", zorder=3, **small)
    for name, line in _CHAINS[score].items():
        value = float(trained[name].iloc[0])
        axes.axhline(value, color=BASELINE, linestyle=line, linewidth=1.2, zorder=2)
    best = trained[trained["selected"]].iloc[0]
    place = places[trained["selected"]].iloc[0]
    axes.plot(place, best[score], linestyle="", zorder=4, **_BEST)
    axes.vlines(place, best[f"{score}_low"], best[f"{score}_high"], color=INK, linewidth=0.8)
    layers = int(trained["layer"].max())
    axes.set(xlim=(0.4, layers + 0.6), xlabel="Layer")
    axes.set_xticks(ticks(layers, 6))
    axes.set_title(_SCORES[score], loc="left")


def _heatmaps(figure: SubFigure, trained: pd.DataFrame) -> None:
    """The score without direction of every head; dots on those that exceed the chain."""
    panels = figure.subplots(1, len(_NAMES), sharey=True)
    highest = float(trained[["uuas", "chain"]].to_numpy().max())
    for axes, (direction, name) in zip(panels, _NAMES.items(), strict=True):
        rows = trained[trained["direction"] == direction]
        mesh: QuadMesh = heatmap(
            axes, grid(rows, "uuas"), cmap=WEIGHT, vmin=0, vmax=max(highest, 0.01), labels=6
        )
        exceeds = rows.assign(
            exceeds=((rows["q_value"] < LEVEL) & (rows["over_chain"] > 0)).astype(float)
        )
        mark_heads(axes, grid(exceeds, "exceeds") > 0, size=3)
        axes.set_title(name, loc="left")
        axes.label_outer()
    bar = colour_bar(figure, mesh, "UUAS", ax=list(panels), shrink=0.9)
    bar.ax.axhline(float(trained["chain"].iloc[0]), color=BASELINE, linewidth=2)


def _handles() -> list[Line2D | Patch]:
    dots = [
        Line2D([], [], linestyle="", **{"markersize": 3, "markeredgewidth": 0.5, **look})
        for look in _LOOKS.values()
    ]
    lines = [
        Line2D([], [], color=BASELINE, linestyle=line, linewidth=1.2)
        for of_score in _CHAINS.values()
        for line in of_score.values()
    ]
    best = Line2D([], [], linestyle="", **_BEST)
    return [*dots, best, Patch(color=BAND), *lines]


def _labels() -> list[str]:
    return [*_NAMES.values(), "best head", "heads of random weights", *_NAMES_OF_CHAINS]
