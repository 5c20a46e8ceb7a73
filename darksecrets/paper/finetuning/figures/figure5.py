"""Figure 5: how much fine-tuning changes the attention of every head (section 4.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.ticker import MaxNLocator

from darksecrets.core.plotting import kit
from darksecrets.paper.finetuning.tables import COSINE

MEAN: Mapping[str, Any] = kit.line(kit.INK, ".", width=0.7)
"""Style of the line of means."""
REFERENCES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "other_heads": ("different heads", kit.line(kit.VERMILLION, dash="--", width=0.9)),
    "other_seed": ("two seeds", kit.line(kit.BLUE, dash=":", width=0.9)),
}
"""Name and style of the line of every reference similarity."""
STEP = 0.05
"""The colour scale begins at a multiple of this, and is at least as wide."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw a grid of heads per task, beside it the mean and spread of each layer.

    Colours and orientation are the paper's: layer 1 at the top, darker = lower cosine = greater
    difference. All tasks share a scale, from the lowest cosine to 1, or, as in the paper, from 0
    (the option ``scale: full``). Several seeds are averaged. Lines beside the mean of a layer are
    its reference similarities: of different heads, and of two fine-tunings; their means are marked
    on the colour bar.
    """
    table = sources.table(COSINE)
    tables = {task: kit.pick(table, task=task) for task in sources.tasks}
    lowest = min(float(kit.grid(rows, "similarity").min().min()) for rows in tables.values())
    low = STEP * min(math.floor(lowest / STEP), round(1 / STEP) - 1)
    if sources.options["scale"] == "full":
        low = 0.0

    def heads(axes: kit.Axes, task: str) -> kit.QuadMesh:
        values = kit.grid(tables[task], "similarity")
        return kit.matrix(axes, values, kit.SIMILARITY, 1, low, labels=8)

    def layers(axes: kit.Axes, task: str) -> None:
        values = kit.grid(tables[task], "similarity")
        mean, spread = values.mean(axis=1), values.std(axis=1).fillna(0)
        axes.fill_betweenx(values.index, mean - spread, mean + spread, color=kit.BAND, linewidth=0)
        axes.plot(mean, values.index, clip_on=False, **MEAN)
        for name, (_, look) in REFERENCES.items():
            if tables[task][name].notna().any():
                means = kit.grid(tables[task], name).mean(axis=1)
                axes.plot(means, values.index, clip_on=False, **look)
        axes.set(xlim=(0, 1), xticks=[0, 1], ylim=(len(values) + 0.5, 0.5))
        axes.tick_params(length=0, labelleft=False)
        axes.spines[["left", "right"]].set(visible=True, linewidth=0.25)

    def finish(bar: kit.Colorbar) -> None:
        bar.ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))

    means = pd.DataFrame([rows[list(REFERENCES)].mean() for rows in tables.values()]).mean()
    known = list(zip(REFERENCES.values(), means, strict=True))
    marks = {value: look for (_, look), value in known if value >= low}
    text = "Cosine similarity (darker = greater difference"
    for (name, _), value in known:
        text += f"; {name}: {value:.2f}, below the scale" if value < low else ""
    bar = kit.Bar(f"{text})", marks, below=True, finish=finish)
    panels = [
        kit.Panel(heads, "heads", x="Head", y="Layer", height=1.4, width=2.7, bar=bar),
        kit.Panel(layers, "layers", x="Mean"),
    ]
    legend = {"before and after, mean ± sd of a layer": MEAN}
    legend |= dict(REFERENCES[str(name)] for name in means.dropna().index)
    headline = "How similar the attention of heads is before and after fine-tuning"
    return kit.page(sources, headline, [panels], most=4, legend=legend)
