"""Score against the share of heads removed, in several orders (Michel et al. 2019, figure 3)."""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.importance import tables
from darksecrets.core.data.metrics import titles
from darksecrets.core.plotting import kit
from darksecrets.paper.ablation.panels import REFERENCES, compare, rows_of

_BANDS = {
    tables.RANDOM: kit.line(kit.GREY, "s", width=0.8),
    tables.GREEDY: kit.line(kit.VERMILLION, "^", width=0.8),
}
_LOOKS = {
    tables.ABSOLUTE: kit.line(kit.BLUE, "o", width=0.8),
    tables.SIGNED: kit.line(kit.SKY, "v", width=0.8),
    tables.EXACT: kit.line(kit.GREEN, "P", width=0.8),
    tables.REVERSED: kit.line(kit.INK, "x", "-.", width=0.8),
}
"""Orders that are drawn without bands, which would hide each other."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the score of every task against the share of removed heads, for each order.

    Bands, of random orders and the greedy one, are 95 % intervals of the difference to the intact
    model, drawn around its score. Scores and ends of intervals are averaged over seeds.
    """
    table, metrics = sources.table(tables.PRUNING_CURVES), sources.main_metrics
    table["percent"] = 100 * table["share"]

    def scores(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        compare(axes, rows)
        ends = ("low", "high")
        kit.lines(axes, rows, "percent", "score", _BANDS, by="order", ends=ends, alpha=0.15)
        kit.lines(axes, rows, "percent", "score", _LOOKS, by="order")
        axes.set_xlim(0, 100)

    legend: dict[str, Any] = {
        "at random" if n == tables.RANDOM else n: look for n, look in (_BANDS | _LOOKS).items()
    }
    panels = [[kit.Panel(scores, x="Heads removed (%)", y="Score", height=1.4)]]
    headline = "Score with heads removed, in several orders"
    legend |= REFERENCES
    return kit.page(sources, headline, panels, most=4, title=titles(metrics), legend=legend)
