"""What the heads of every layer attend to, after Clark et al. (2019); beyond section 4.4."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.ticker import MaxNLocator

from darksecrets.core.plotting import kit
from darksecrets.core.run.states import RANDOM, STATE_NAMES
from darksecrets.paper.features.tables import HEAD_STATISTICS

STATISTICS = ("[CLS]", "[SEP]", "punctuation", "previous", "self", "next")
"""Shares of attention, a panel each; punctuation, if words are annotated."""
_NAMES = {"previous": "previous token", "self": "the token itself", "next": "next token"}
_UNIFORM = {"uniform": kit.line(kit.INK, dash=":", width=0.8)}
"""What uniform attention would give."""
_LOOKS = {
    RANDOM: kit.line(kit.GREY, dash="--", width=0.8),
    "pretrained": kit.line(kit.STATES["pretrained"], "s", markersize=3.5),
    "finetuned": kit.line(kit.STATES["finetuned"], "o", markersize=2.0),
}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw shares of attention against the layer, a panel per share.

    Lines are means over heads, seeds and learned tasks; bands reach from the task with the least
    mean to the one with the greatest.
    """
    table = kit.pick(sources.table(HEAD_STATISTICS), task=sources.averaged, state=_LOOKS)
    keys = ["state", "statistic", "layer"]
    means = kit.average_over_tasks(table, "value", keys)
    uniform = kit.average_over_tasks(table, "uniform", keys[1:]).assign(state="uniform")
    measured = set(table["statistic"])
    shown = [name for name in STATISTICS if name in measured]

    def share(axes: kit.Axes, statistic: str) -> None:
        rows = kit.pick(means, statistic=statistic)
        kit.lines(axes, rows, "layer", "mean", _LOOKS, by="state", ends=kit.ENDS_OF_BAND)
        by_chance = kit.pick(uniform, statistic=statistic)
        kit.lines(axes, by_chance, "layer", "mean", _UNIFORM, by="state")
        axes.set_ylim(bottom=0)
        axes.set_xticks(kit.ticks(int(means["layer"].max()), 12))
        axes.yaxis.set_major_locator(MaxNLocator(3))

    panel = kit.Panel(share, x="Layer", y="Share", height=0.9)
    grid = kit.Grid(shown, panel, most=3, title=lambda name: _NAMES.get(name, name))
    legend = _UNIFORM | {STATE_NAMES[state]: look for state, look in _LOOKS.items()}
    what = kit.means_in_words(sources.averaged, "heads")
    headline = sources.headline(lambda _: _headline(means, shown))
    look: dict[str, Any] = {"legend": legend, "width": kit.PAGE, "what": what, "averaged": True}
    return kit.page(sources, headline, grid, **look)


def _headline(means: pd.DataFrame, shown: list[str]) -> str:
    """Where most of the attention of a layer's heads goes after fine-tuning."""
    greatest = kit.pick(means, state="finetuned", statistic=shown).nlargest(1, "mean").iloc[0]
    name = _NAMES.get(greatest["statistic"], greatest["statistic"])
    return (
        f"Layer {greatest['layer']} gives most to {name}: {100 * greatest['mean']:.0f}% of its "
        "attention after fine-tuning"
    )
