"""Figure 6: attention to [SEP] and [CLS] per head, after fine-tuning (section 4.4)."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

from darksecrets.core.plotting import kit
from darksecrets.paper.features.findings import TOKENS, describe_special_tokens
from darksecrets.paper.features.tables import STRIPES


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a row of heatmaps for [SEP] and one for [CLS], each on its own scale.

    Weights are the paper's: shares of a row's attention. A line on each scale marks uniform
    attention, the mean of 1 / L. Several seeds are averaged.
    """
    table = kit.pick(sources.table(STRIPES), state="finetuned")
    maps = {}
    for task, name in product(sources.tasks, TOKENS):
        maps[task, name] = kit.grid(kit.pick(table, feature=name, task=task), "weight")
    uniform = {
        name: float(kit.pick(table, feature=name, task=sources.tasks)["uniform"].mean())
        for name in TOKENS
    }
    limits = {
        name: kit.end_of_weights(uniform[name], *(maps[task, name] for task in sources.tasks))
        for name in TOKENS
    }

    def heads(axes: kit.Axes, task: str, name: str) -> kit.QuadMesh:
        return kit.matrix(axes, maps[task, name], kit.WEIGHT, limits[name], 0)

    bars = {
        name: kit.Bar("Weight", {uniform[name]: kit.line(kit.MARK, width=1.5)}) for name in TOKENS
    }
    look: dict[str, Any] = {"height": 0.95, "share": "columns"}
    panels = [
        [kit.Panel(heads, of=(name,), x=x, y=f"{name}\nLayer", bar=bars[name], **look)]
        for name, x in zip(TOKENS, ("", "Head"), strict=True)
    ]
    what = "Mean weight of every head. Each row has its own scale; blue: uniform attention."
    headline = sources.headline(partial(describe_special_tokens, table))
    return kit.page(sources, headline, panels, what=what)
