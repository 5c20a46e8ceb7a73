"""How well heads find antecedents, after Table 2 of Clark et al. (2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    mark_heads,
    new_figure,
    style,
)
from darksecrets.run.columns import RANDOM
from darksecrets.run.errors import InputError
from darksecrets.stats import LEVEL
from darksecrets.syntax.coreference_tables import (
    BEST_HEAD,
    COREFERENCE_HEADS,
    COREFERENCE_METHODS,
    DISTANCE,
    EXPRESSIONS,
    HEAD_MATCH,
    NEAREST,
    PRONOUN,
    RULES,
)
from darksecrets.syntax.tables import ALL

if TYPE_CHECKING:
    from matplotlib.collections import QuadMesh

_OTHERS: dict[str, dict[str, Any]] = {
    NEAREST: {"marker": "<", "color": "white", "markeredgecolor": BASELINE},
    DISTANCE: {"marker": "|", "color": BASELINE, "markersize": 9, "markeredgewidth": 1.6},
    HEAD_MATCH: {"marker": "D", "color": "white", "markeredgecolor": INK},
    RULES: {"marker": "s", "color": "white", "markeredgecolor": INK},
}
"""Methods without a model, and their marks."""
_NAMES = {
    NEAREST: "last expression",
    DISTANCE: "best fixed distance",
    HEAD_MATCH: "same head word",
    RULES: "rules",
}
_HEADS = {ALL: "All expressions", PRONOUN: "Pronouns"}
"""Kinds whose heads are drawn."""


def coreference_heads(methods: pd.DataFrame, heads: pd.DataFrame, run_label: str) -> Figure:
    """Draw the best head beside other methods for each kind of expression, and all heads.

    Args:
        methods: `coreference_methods.csv`.
        heads: `coreference_heads.csv`.
        run_label: The run, its model and its texts in a few words, for the small print.

    Raises:
        InputError: Columns are missing, or rows of the pre-trained model.
    """
    ends = ["accuracy_low", "accuracy_high"]
    check_columns(
        methods, ["state", "kind", "method", "accuracy", *ends], "coreference_methods.csv"
    )
    needed = ["state", "kind", "layer", "head", "accuracy", "p_family"]
    check_columns(heads, needed, "coreference_heads.csv")
    trained, random = (methods[methods["state"] == state] for state in ("pretrained", RANDOM))
    kinds = [kind for kind in (ALL, *EXPRESSIONS) if kind in set(trained["kind"])]
    if not kinds:
        raise InputError(
            "The table coreference_methods.csv has no rows of the state pretrained. Make the table "
            "again."
        )
    above = 0.2 * len(kinds) + 0.5
    with style():
        figure = new_figure(COLUMN, above + 2.2)
        parts = figure.subfigures(2, 1, squeeze=False, height_ratios=[above, 1.7])
        top, bottom = parts[:, 0]
        _methods(top.subplots(), trained, random, kinds)
        rows = heads[heads["state"] == "pretrained"]
        shown = [kind for kind in _HEADS if kind in kinds]
        panels = bottom.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for panel, kind in zip(panels, shown, strict=True):
            mesh = _map(panel, rows[rows["kind"] == kind], _HEADS[kind])
            panel.label_outer()
        colour_bar(bottom, mesh, "right antecedents", ax=list(panels), shrink=0.9)
        figure.legend(_handles(), _labels(), loc="outside upper left", ncols=2, handlelength=1)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    methods = sources.table(COREFERENCE_METHODS)
    return coreference_heads(methods, sources.table(COREFERENCE_HEADS, "heads"), sources.label)


def _methods(axes: Axes, trained: pd.DataFrame, random: pd.DataFrame, kinds: list[str]) -> None:
    """A row for every kind: the best head with its interval, and marks of the other methods."""
    best = trained[trained["method"] == BEST_HEAD].set_index("kind").loc[kinds]
    chance = random[random["method"] == BEST_HEAD].set_index("kind")["accuracy"].reindex(kinds)
    places = range(len(kinds))
    axes.hlines(places, best["accuracy_low"], best["accuracy_high"], color=MARK, zorder=3)
    axes.plot(best["accuracy"], places, "o", color=MARK, markersize=4, zorder=4)
    axes.plot(chance, places, "x", color=GREY, markersize=3.5, markeredgewidth=0.8)
    for method, look in _OTHERS.items():
        values = trained[trained["method"] == method].set_index("kind").loc[kinds, "accuracy"]
        axes.plot(values, places, linestyle="", zorder=2, **_sized(look))
    names = [_HEADS[ALL] if kind == ALL else f"{kind.capitalize()}s" for kind in kinds]
    axes.set_yticks(places, names)
    axes.set(xlim=(-0.02, 1.02), ylim=(len(kinds) - 0.5, -0.5))
    axes.set_xlabel("Share of right antecedents")
    axes.grid(axis="x", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _sized(look: dict[str, Any]) -> dict[str, Any]:
    """A mark in the usual size, unless it has its own."""
    return {"markersize": 3.5, "markeredgewidth": 0.8, **look}


def _map(axes: Axes, rows: pd.DataFrame, title: str) -> QuadMesh:
    """The heads of one kind of expression; dots on those that exceed all controls."""
    mesh = heatmap(axes, grid(rows, "accuracy"), cmap=WEIGHT, vmin=0, vmax=1, labels=6)
    mark_heads(axes, grid(rows, "p_family") < LEVEL, size=3)
    axes.set_title(title, loc="left")
    return mesh


def _handles() -> list[Line2D]:
    marks: list[dict[str, Any]] = [
        {"marker": "o", "color": MARK, "markersize": 4},
        {"marker": "x", "color": GREY, "markersize": 3.5, "markeredgewidth": 0.8},
        *map(_sized, _OTHERS.values()),
    ]
    return [Line2D([], [], linestyle="", **mark) for mark in marks]


def _labels() -> list[str]:
    return ["best head", "best head, random weights", *(_NAMES[method] for method in _OTHERS)]
