"""Effect of disabling each head, and which effects are significant (section 4.6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from darksecrets.ablation.panels import HOLLOW, rows_of
from darksecrets.ablation.tables import HEAD_ABLATION
from darksecrets.data.metrics import titles
from darksecrets.plotting import kit
from darksecrets.stats import LEVEL

# Share of the heads that must fit in the inner half of the scale, so that a few outliers do not
# make all others pale.
_MOST = 0.75
MARKS = {
    "q_value": {**HOLLOW, "marker": "*", "markersize": 5},
    "p_value": {**HOLLOW, "marker": "o", "markersize": 2},
}
"""Look of heads that are significant after correction, and of those only before it."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw one grid of score differences per task, on a scale centred on 0.

    The score falls without an orange head and rises without a purple one. The scale ends at the
    greatest difference, or earlier if that leaves three quarters of the heads in its inner half;
    the colour bar then has arrows. With several seeds, the mean is drawn, and a head is marked
    when it is significant for more than half of them.
    """
    table, metrics = sources.table(HEAD_ABLATION), sources.main_metrics

    def heads(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        values = kit.grid(rows, "delta")
        sizes = values.abs().to_numpy()
        end = float(min(2 * np.quantile(sizes, _MOST), sizes.max()) or sizes.max()) or 1.0
        mesh = kit.matrix(axes, values, kit.CHANGE, end)
        marked = values != values
        for column, look in MARKS.items():
            sure = kit.grid(rows.assign(share=rows[column] < LEVEL), "share") > 0.5
            kit.mark(axes, sure & ~marked, label=column, **look)
            marked |= sure
        below, above = values.min().min() < -end, values.max().max() > end
        extend = "both" if below and above else "min" if below else "max" if above else "neither"
        bar = kit.scale(axes.figure, mesh, ax=axes, extend=extend)
        bar.locator = MaxNLocator(4, symmetric=True)

    legend: dict[str, Any] = {"worse without the head": kit.HURT, "better without it": kit.HELPED}
    legend |= {"significant after correction": MARKS["q_value"], "only before it": MARKS["p_value"]}
    panel = kit.Panel(heads, "heads", x="Head", y="Layer", height=1.25)
    headline = "Change of the score with one head disabled"
    return kit.page(sources, headline, panel, most=4, title=titles(metrics), legend=legend)
