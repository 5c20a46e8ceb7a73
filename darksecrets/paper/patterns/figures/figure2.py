"""Figure 2: shares of the five patterns per task, before and after fine-tuning (section 4.1)."""

from __future__ import annotations

from functools import partial

import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.paper.patterns.classes import STRICT
from darksecrets.paper.patterns.findings import describe_heterogeneous_shares
from darksecrets.paper.patterns.tables import PATTERN_SHARES

PAPER_RANGE = (0.32, 0.61)
"""Smallest (MRPC) and largest (QQP) share of heterogeneous maps that the paper's text reports."""
WRITTEN = 0.045
"""The smallest share whose percentage is written into its bar."""
_HEIGHTS = {"finetuned": 0.5, "pretrained": 0.16}
"""Height of a task's bars, where 1 is the distance of two tasks."""
_MIDDLES = {"finetuned": -0.1, "pretrained": 0.27}
_ROW = 0.34  # inches for each task


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a stacked bar per task for the fine-tuned models, and a thinner one for the pre-trained.

    Heterogeneous maps are at the left, so that their share, which the paper reports, is easy to
    read.
    Shares are those under the paper's definition, means over seeds. A run of the paper also shows
    the range of heterogeneous maps in the paper's text.
    """
    table = kit.pick(
        sources.table(PATTERN_SHARES),
        definition=STRICT,
        task=sources.tasks,
        state=list(_HEIGHTS),
    )
    means = table.groupby(["state", "task", "pattern"])["share"].mean().reset_index()
    is_paper = bool(sources.paths("published"))

    def bars(axes: kit.Axes, _: str) -> None:
        for state, height in _HEIGHTS.items():
            shares = means[means["state"] == state].pivot(
                index="task", columns="pattern", values="share"
            )
            shares = shares.reindex(sources.tasks)
            places = [number + _MIDDLES[state] for number in range(len(shares))]
            start = pd.Series(0.0, index=shares.index)
            for pattern in reversed(kit.PATTERNS):
                share = shares[pattern]
                drawn = axes.barh(places, share, height, start, color=kit.PATTERNS[pattern])
                if state == "finetuned":
                    texts = [f"{100 * one:.0f}" if one >= WRITTEN else "" for one in share]
                    colour = "white" if pattern == _DARK else kit.INK
                    axes.bar_label(drawn, texts, label_type="center", color=colour)
                start += share
        if is_paper:
            for end in PAPER_RANGE:
                axes.axvline(end, color=kit.INK, linewidth=0.8, linestyle=(0, (3, 2)))
        axes.set_yticks(range(len(sources.tasks)), [*map(sources.marked, sources.tasks)])
        axes.set(xlim=(0, 1), ylim=(len(sources.tasks) - 0.4, -0.6))
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25", "50", "75", "100%"])
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)

    height = 0.25 + _ROW * len(sources.tasks)
    panel = kit.Panel(bars, "shares", x="Share of all maps", height=height, fixed=True)
    what = "Thick: fine-tuned. Thin: pre-trained."
    if is_paper:
        what += " Dashed: the paper's smallest and largest heterogeneous share."
    return kit.page(
        sources,
        sources.headline(partial(describe_heterogeneous_shares, table)),
        kit.Grid([""], panel),
        legend=dict(reversed(kit.PATTERNS.items())),
        width=kit.PAGE,
        what=what,
    )


_DARK = "vertical"  # the only colour dark enough for white numbers
