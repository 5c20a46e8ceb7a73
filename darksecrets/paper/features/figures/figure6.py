"""Figure 6: attention to [SEP] and [CLS] per head, after fine-tuning (section 4.4)."""

from __future__ import annotations

from itertools import product

import numpy as np

from darksecrets.core.plotting import kit
from darksecrets.paper.features.tables import STRIPES

ROWS = ("[SEP]", "[CLS]")
UNIFORM = 1.0
"""Ratio of uniform attention to itself, marked on the colour bar."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a row of heatmaps for [SEP] and one for [CLS] on one scale, as the paper does.

    Weights are divided by those under uniform attention, 1 / L: the same weight is much in a long
    input and little in a short one.
    """
    table = kit.pick(sources.table(STRIPES), state="finetuned")
    maps = {}
    for task, name in product(sources.tasks, ROWS):
        rows = kit.pick(table, feature=name, task=task)
        maps[task, name] = kit.grid(rows, "weight") / kit.grid(rows, "uniform").replace(0, np.nan)
    limit = max(kit.largest(*maps.values()), UNIFORM)

    def heads(axes: kit.Axes, task: str, name: str) -> kit.QuadMesh:
        return kit.matrix(axes, maps[task, name], kit.WEIGHT, limit, 0)

    bar = kit.Bar("Weight ÷ (1/L); line: uniform", {UNIFORM: kit.line(kit.MARK, width=1.5)})
    panels = kit.rows(heads, ROWS, "Head", "{}\nLayer", height=1.0, bar=bar)
    headline = "Attention to [SEP] and [CLS] after fine-tuning, relative to uniform attention"
    return kit.page(sources, headline, panels)
