"""What the heads of every layer attend to, after Clark et al. (2019); beyond section 4.4."""

from __future__ import annotations

from matplotlib.ticker import MaxNLocator

from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import RANDOM
from darksecrets.paper.features.tables import HEAD_STATISTICS

STATISTICS = ("[CLS]", "[SEP]", "punctuation", "previous", "self", "next")
"""Shares of attention, a row of panels each, from the top; punctuation, if words are annotated."""
_UNIFORM = {"uniform": kit.line(kit.INK, dash=":", width=0.8)}
"""What uniform attention would give."""
_LOOKS = {
    RANDOM: kit.line(kit.GREY, dash="--", width=0.8),
    "pretrained": kit.line(kit.STATES["pretrained"], "s", markersize=3.5),
    "finetuned": kit.line(kit.STATES["finetuned"], "o", markersize=2.0),
}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw shares of attention against the layer: a row of panels per share, a column per task.

    Lines are means over the heads of a layer (and over seeds), small points are heads. The panels
    of a row have the same scale.
    """
    table = kit.pick(sources.table(HEAD_STATISTICS), task=sources.tasks)
    colours = {state: look["color"] for state, look in _LOOKS.items()}

    def share(axes: kit.Axes, task: str, statistic: str) -> None:
        rows = kit.pick(table, task=task, statistic=statistic, state=_LOOKS)
        colour_of = rows["state"].map(colours)
        axes.scatter(rows["layer"], rows["value"], 1.5, c=colour_of, linewidth=0, alpha=0.4)
        kit.lines(axes, rows, "layer", "uniform", _UNIFORM)
        kit.lines(axes, rows, "layer", "value", _LOOKS, by="state")
        axes.set_ylim(0, 1.05 * kit.pick(table, statistic=statistic)["value"].max())
        axes.yaxis.set_major_locator(MaxNLocator(3))

    measured = set(table["statistic"])
    shown = [name for name in STATISTICS if name in measured]
    panels = kit.rows(share, shown, "Layer", height=0.7)
    legend, headline = _UNIFORM | _LOOKS, "Share of attention, by where it goes"
    return kit.page(sources, headline, panels, legend=legend)
