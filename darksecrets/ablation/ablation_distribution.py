"""How many heads help or hurt, and by how much (section 4.6)."""

from __future__ import annotations

from typing import Any

import numpy as np
import seaborn as sns
from matplotlib.ticker import MaxNLocator

from darksecrets.ablation.panels import INTACT, rows_of
from darksecrets.ablation.tables import HEAD_ABLATION
from darksecrets.data.metrics import titles
from darksecrets.plotting import kit

_BINS = 25  # 0 is an edge, so that no bar mixes heads that help with heads that hurt


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a histogram of the heads' score differences per task, and their mean.

    Heads of all seeds are counted. Each panel has its own scale.
    """
    table, metrics = sources.table(HEAD_ABLATION), sources.main_metrics

    def deltas(axes: kit.Axes, task: str) -> None:
        values = rows_of(table, task, metrics[task])["delta"].to_numpy()
        low, high = min(values.min(), 0), max(values.max(), 0)
        width = (high - low) / _BINS or 1.0
        edge = np.ceil(np.abs(values).max() / width + 1e-9)
        bins = (width * np.arange(-edge, edge + 1)).tolist()
        parts = {kit.HURT: values[values < 0], kit.HELPED: values[values > 0]}
        for colour, part in parts.items():
            sns.histplot(part, bins=bins, color=colour, alpha=1, linewidth=0, ax=axes)
        hurt, helped = map(len, parts.values())
        same = len(values) - hurt - helped
        axes.bar(0, same, width=width / 2, color=kit.GREY)
        axes.axvline(values.mean(), **INTACT)
        axes.set_xlim(low - width, high + width)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.set_title(f"{hurt} hurt, {same} the same, {helped} help")

    legend: dict[str, Any] = {
        "worse without the head": kit.HURT,
        "the same": kit.GREY,
        "better": kit.HELPED,
    }
    headline = "Change of the score with one head disabled, over all heads"
    legend |= {"mean: a random head": INTACT}
    panel = kit.Panel(deltas, "deltas", x="Difference to intact model", y="Heads")
    return kit.page(sources, headline, panel, most=4, title=titles(metrics), legend=legend)
