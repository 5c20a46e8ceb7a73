"""Figure 9: the score of every task with one layer disabled at a time (section 4.6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.core.stats import LEVEL
from darksecrets.paper.ablation.panels import (
    LEGEND,
    mark_significant,
    note_on_marks,
    panel_rows,
    scale_of,
)
from darksecrets.paper.ablation.tables import LAYER_ABLATION

_DOT = {"": kit.dot(kit.INK, size=2.2, markeredgewidth=0.4)}


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a column of layers per task and metric, beside it the differences to the intact model.

    As in the paper: layer 1 at the top, darker = greater score, one scale per task, an orange
    line for the intact model. Seeds are averaged in the column; beside it, each has its difference
    with its interval, filled if it is significant.
    """
    table = sources.table(LAYER_ABLATION)
    note = note_on_marks(table)
    tables = panel_rows(sources, table.assign(head=1, sure=table["q_value"] < LEVEL))

    def layers(axes: kit.Axes, name: str) -> None:
        rows, values = tables[name], kit.grid(tables[name], "score")
        low, high = scale_of(values, rows)
        texts = np.vectorize("{:.1f}".format)(values)
        kit.matrix(axes, values, kit.SCORE, high, low, texts=texts, labels=12)
        axes.set_xticks([])
        mark_significant(axes, rows, across=0.88)

    def differences(axes: kit.Axes, name: str) -> None:
        rows = tables[name]
        axes.axvline(0, color=kit.BASELINE, linewidth=2, zorder=1)
        names = dict.fromkeys(sorted(rows["layer"].unique()), "")
        where: dict[str, Any] = {"at": "layer", "places": names, "spread": ["seed"]}
        ends = ("ci_low", "ci_high")
        kit.intervals(axes, rows, "delta", _DOT, ends=ends, sure="sure", **where)
        axes.set_title(f"intact: {written(rows['baseline'].mean(), '.1f')}")
        axes.locator_params(axis="x", nbins=3)

    height = 0.45 + 0.13 * max(table["layer"].nunique(), 3)
    panels = [
        kit.Panel(layers, "layers", x="Score", y="Layer", height=height, width=1.2),
        kit.Panel(differences, "intervals", x="Difference"),
    ]
    grids = kit.Grid(list(tables), [panels], most=4)
    return kit.page(sources, "Score with one layer disabled", grids, legend=LEGEND, note=note)
