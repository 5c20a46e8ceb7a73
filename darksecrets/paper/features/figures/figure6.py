"""Figure 6: attention to [SEP] and [CLS] per head, after fine-tuning (section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.paper.features.tables import STRIPES

ROWS = ("[SEP]", "[CLS]")


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a row of heatmaps for [SEP] and one for [CLS], each on its own scale.

    Weights are the paper's: shares of a row's attention. A line on each scale marks uniform
    attention, the mean of 1 / L. Several seeds are averaged.
    """
    table = kit.pick(sources.table(STRIPES), state="finetuned")
    maps = {}
    for task, name in product(sources.tasks, ROWS):
        maps[task, name] = kit.grid(kit.pick(table, feature=name, task=task), "weight")
    uniform = {
        name: float(kit.pick(table, feature=name, task=sources.tasks)["uniform"].mean())
        for name in ROWS
    }
    limits = {
        name: max(kit.largest(*(maps[task, name] for task in sources.tasks)), uniform[name])
        for name in ROWS
    }

    def heads(axes: kit.Axes, task: str, name: str) -> kit.QuadMesh:
        return kit.matrix(axes, maps[task, name], kit.WEIGHT, limits[name], 0)

    bars = {
        name: kit.Bar("Weight", {uniform[name]: kit.line(kit.MARK, width=1.5)}) for name in ROWS
    }
    look: dict[str, Any] = {"height": 0.95, "share": "columns"}
    panels = [
        [kit.Panel(heads, of=(name,), x=x, y=f"{name}\nLayer", bar=bars[name], **look)]
        for name, x in zip(ROWS, ("", "Head"), strict=True)
    ]
    what = "Mean weight of every head; the blue line on a scale is uniform attention."
    return kit.page(sources, _headline(maps), panels, what=what)


def _headline(maps: Mapping[tuple[str, str], pd.DataFrame]) -> str:
    """The greatest mean weight that a head gives each token."""
    greatest = {
        name: max(float(values.max().max()) for (_, of), values in maps.items() if of == name)
        for name in ROWS
    }
    first, second = (f"{100 * greatest[name]:.0f}%" for name in ROWS)
    return f"Heads give up to {first} of their attention to [SEP], up to {second} to [CLS]"
