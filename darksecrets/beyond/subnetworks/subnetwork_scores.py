"""Scores of subnetworks against the weights that are left (Prasanna et al. 2020, figure 3)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from darksecrets.beyond.subnetworks import tables
from darksecrets.core.data.metrics import titles
from darksecrets.core.plotting import kit
from darksecrets.paper.ablation.panels import CHANCE, INTACT, compare, rows_of

_LOOKS = {
    tables.GOOD: kit.dot(kit.BLUE),
    tables.RANDOM: kit.dot(kit.GREY, "s"),
    tables.BAD: kit.dot(kit.VERMILLION, "v"),
}
_APART = 1.6
"""Points (%) between subnetworks of the same size, so that their intervals can be told apart."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the score of every task against the share of weights that is left.

    Lines through dots are 95 % intervals of the difference to the whole model, drawn
    around its score. Scores, shares and ends of intervals are averaged over seeds. Filled dots are
    subnetworks as they are, hollow ones those that were trained again.
    """
    table, metrics = sources.table(tables.SUBNETWORK_SCORES), sources.main_metrics

    def scores(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        compare(axes, rows)
        ends = ("low", "high")
        means = _percent(rows, "subnetwork", "trained")
        hollow = means["trained"] != tables.AS_IT_IS
        places = means["subnetwork"].map(list(_LOOKS).index) - 1 - len(_LOOKS) * hollow
        means = means.assign(percent=means["percent"] + _APART * places, whole=~hollow)
        where: dict[str, Any] = {"at": "percent", "by": "subnetwork", "upright": True}
        kit.intervals(axes, means, "score", _LOOKS, ends=ends, sure="whole", **where)
        axes.set_xlim(100, 0)

    legend: dict[str, Any] = dict(_LOOKS)
    if (table["trained"] != tables.AS_IT_IS).any():
        legend["trained again"] = kit.hollow(kit.dot(kit.INK))
    legend |= {"whole model": INTACT, "most frequent label": CHANCE}
    panel = kit.Panel(scores, x="Weights left (%)", y="Score", height=1.4)
    headline = "Score of subnetworks by their size"
    return kit.page(sources, headline, panel, most=4, title=titles(metrics), legend=legend)


def _percent(rows: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Means over seeds, in percent of the weights."""
    shown = rows.assign(percent=100 * rows["weights"])
    means = shown.groupby(list(by), sort=False)[["percent", "score", "low", "high"]].mean()
    return means.reset_index()
