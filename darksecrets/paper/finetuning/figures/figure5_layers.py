"""Figure 5, supplement: how much fine-tuning changes each layer, and what else is as different."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.paper.finetuning.tables import COSINE

MEAN: Mapping[str, Any] = kit.line(kit.INK, ".", width=0.8)
"""Style of the line of means."""
REFERENCES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "other_heads": ("two different heads", kit.line(kit.VERMILLION, dash="--", width=0.9)),
    "other_seed": ("two fine-tunings", kit.line(kit.BLUE, dash=":", width=0.9)),
}
"""Name and style of the line of every reference similarity."""


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw the mean and the spread of each layer's heads per task; several seeds are averaged.

    Lines beside them are reference similarities: of different heads, and of two fine-tunings.
    """
    table = sources.table(COSINE)
    tables = {task: kit.pick(table, task=task) for task in sources.tasks}

    def layers(axes: kit.Axes, task: str) -> None:
        values = kit.grid(tables[task], "similarity")
        mean, spread = values.mean(axis=1), values.std(axis=1).fillna(0)
        axes.fill_betweenx(values.index, mean - spread, mean + spread, color=kit.BAND, linewidth=0)
        axes.plot(mean, values.index, clip_on=False, **MEAN)
        for name, (_, look) in REFERENCES.items():
            if tables[task][name].notna().any():
                means = kit.grid(tables[task], name).mean(axis=1)
                axes.plot(means, values.index, clip_on=False, **look)
        axes.set(xlim=(0, 1), ylim=(len(values) + 0.5, 0.5), yticks=kit.ticks(len(values), 8))
        axes.set_xticks([0, 0.5, 1], labels=["0", ".5", "1"])

    means = pd.DataFrame([rows[list(REFERENCES)].mean() for rows in tables.values()]).mean()
    legend = {"before and after fine-tuning, mean ± sd of a layer": MEAN}
    legend |= dict(REFERENCES[str(name)] for name in means.dropna().index)
    height = 0.5 + 0.11 * max(int(table["layer"].max()), 6)
    panel = kit.Panel(layers, "layers", x="Cosine", y="Layer", height=height, share="columns")
    headline = sources.headline(lambda tasks: _headline([tables[task] for task in tasks]))
    return kit.page(sources, headline, [[panel]], most=7, legend=legend, width=kit.PAGE)


def _headline(of_tasks: Sequence[pd.DataFrame]) -> str:
    """The mean cosine over all heads, and that of different heads, if it was measured."""
    own = pd.concat(of_tasks)["similarity"].mean()
    said = f"Attention before and after fine-tuning has a cosine of {own:.2f} on average"
    other = pd.Series([rows["other_heads"].mean() for rows in of_tasks]).mean()
    return said if pd.isna(other) else f"{said}, that of two different heads {other:.2f}"
