"""Attention between verbs and subjects, pronouns and nouns (section 4.5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.core.stats import LEVEL
from darksecrets.paper.features.labels import RELATIONS
from darksecrets.paper.features.tables import TOKEN_PAIR_CORRELATIONS, TOKEN_PAIRS

_NAMED = 3  # heads whose layer and head are written, of those that are marked in a panel
_NUMBERS = ["weight", "control", "diagonal", "passes"]
_EQUAL = kit.line(kit.GREY, width=0.5)
_EXCEEDS = kit.dot(kit.MARK, size=4.7, markerfacecolor="none", markeredgewidth=0.9)


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the weight of related pairs against that of random pairs, a panel per task and relation.

    Each dot is a head, darker = greater diagonal score. On the line, a head gives related pairs as
    much weight as any tokens at the same distance. A ring marks heads that exceed all controls,
    with every seed (q < 0.05); those furthest above the line are named by layer and head. Two
    correlations over heads with the diagonal score are written: of the weight, and of its excess.
    Heads with local attention that can reach no related tokens are left out. Several seeds are
    averaged.
    """
    table = sources.table(TOKEN_PAIRS)
    rows = table[(table["state"] == "finetuned") & (table["examples"] > 0)]
    rows = rows.assign(passes=rows["q_value"] < LEVEL)
    heads = rows.groupby(["task", "relation", "layer", "head"])[_NUMBERS].mean().reset_index()
    correlations = sources.table(TOKEN_PAIR_CORRELATIONS)
    correlations = correlations[correlations["state"] == "finetuned"]

    def pairs(axes: kit.Axes, task: str, relation: str) -> kit.ScalarMappable:
        roots: dict[str, Any] = {"functions": (np.sqrt, np.square)}  # most weights are small
        axes.set_xscale("function", **roots)
        axes.set_yscale("function", **roots)
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.set_xticks([0, 0.25, 1], labels=["0", ".25", "1"])
        axes.set_yticks([0, 0.25, 1], labels=["0", ".25", "1"])
        own, r = (
            each[(each["task"] == task) & (each["relation"] == relation)]
            for each in (heads, correlations)
        )
        if own.empty:
            axes.text(0.5, 0.5, "none", color=kit.GREY, transform=axes.transAxes, ha="center")
        else:
            _dots(axes, own.sort_values("diagonal"))
        values = r[["weight", "over_control"]].mean()
        if not values.isna().any():
            both = (written(value, ".2f") for value in values)
            axes.set_title("r {}, {}".format(*both))
        return kit.ScalarMappable(cmap=kit.WEIGHT)

    bar = kit.Bar("Diagonal score of the head (darker = larger)", below=True)
    called = {relation: relation.replace(" to ", " →\n") for relation in RELATIONS}
    panels = kit.rows(pairs, called, "Random tokens", height=0.92, bar=bar)
    names = "as much as between random tokens", "exceeds all controls: layer-head"
    legend = dict(zip(names, (_EQUAL, _EXCEEDS), strict=True))
    what = (
        "Largest weight between related tokens (up) and random ones (across), on square-root "
        "scales. A dot is a head. r: correlation over heads of the diagonal score with the weight, "
        "and with its excess over random tokens."
    )
    headline = sources.headline(lambda tasks: _headline(heads[heads["task"].isin(tasks)]))
    return kit.page(sources, headline, panels, legend=legend, what=what)


def _headline(heads: pd.DataFrame) -> str:
    """How many heads exceed all controls, and for which relation most."""
    marked = heads[heads["passes"] == 1]
    total = len(heads)
    if marked.empty:
        return f"No head exceeds all controls for related tokens, of {total} tried"
    most = marked["relation"].value_counts().index[0]
    return (
        f"{len(marked)} of {total} heads and relations exceed all controls, most for "
        f"{most.replace(' to ', ' → ')}"
    )


def _dots(axes: kit.Axes, heads: pd.DataFrame) -> None:
    """Draw the heads of one task and relation, and name the marked ones, two in a line."""
    axes.plot([0, 1], [0, 1], zorder=1, **_EQUAL)
    look: dict[str, Any] = {"cmap": kit.WEIGHT, "vmin": 0, "vmax": 1, "linewidths": 0.3}
    look |= {"edgecolors": kit.INK, "clip_on": False, "zorder": 2}
    axes.scatter(heads["control"], heads["weight"], 7, c=heads["diagonal"], **look)
    marked = heads[heads["passes"] == 1]
    for row in marked.to_dict("records"):
        axes.plot(row["control"], row["weight"], clip_on=False, zorder=3, **_EXCEEDS)
    furthest = marked.assign(excess=marked["weight"] - marked["control"]).nlargest(_NAMED, "excess")
    names = [f"{row['layer']}-{row['head']}" for row in furthest.to_dict("records")]
    names += [f"+{len(marked) - _NAMED}"] * (len(marked) > _NAMED)
    corner: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
    corner |= {"bbox": {"color": "white", "alpha": 0.7, "pad": 0.5}, "zorder": 4}
    axes.text(1, 0.03, "\n".join(names), color=kit.MARK, **corner)
