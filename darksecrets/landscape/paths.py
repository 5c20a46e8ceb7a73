"""Loss and score between what fine-tuning began with and what it made (Hao et al. 2019)."""

from __future__ import annotations

import pandas as pd

from darksecrets.ablation.panels import STATE
from darksecrets.data.metrics import titles
from darksecrets.landscape import tables
from darksecrets.plotting import kit

_PARTS = {tables.MODEL: {"color": kit.VERMILLION}, tables.ENCODER: {"color": kit.INK}}
_DOTTED = {"linestyle": ":"}
_FINE_TUNED = kit.line(kit.BASELINE, width=1.2)
_ENDS = ("low", "high")


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw, for every task, losses of the whole model above, and scores of single layers below.

    Bands are intervals of the difference from α = 1, drawn around its value.
    """
    table, metrics = (
        kit.pick(sources.table(tables.INTERPOLATION), state=STATE),
        sources.main_metrics,
    )
    base = table["value"] - table["difference"]
    table = table.assign(low=base + table["ci_low"], high=base + table["ci_high"])
    colours = kit.of_layers(int(table["layer"].max()))

    def losses(axes: kit.Axes, task: str) -> None:
        rows = kit.pick(table, task=task, quantity=tables.LOSS)
        known, seen = (rows[rows["split"] == split] for split in (tables.VALIDATION, tables.TRAIN))
        kit.lines(axes, known, "alpha", "value", _PARTS, by="part", ends=_ENDS, alpha=0.15)
        dotted = {part: look | _DOTTED for part, look in _PARTS.items()}
        kit.lines(axes, seen, "alpha", "value", dotted, by="part")
        axes.set_xlim(0, 1)

    def scores(axes: kit.Axes, task: str) -> None:
        rows = kit.pick(table, task=task, quantity=metrics[task])
        alone = {layer: kit.line(colour, width=0.8) for layer, colour in colours.items()}
        kit.lines(axes, rows[rows["part"] == tables.LAYER], "alpha", "value", alone, by="layer")
        encoder: pd.DataFrame = rows[rows["part"] == tables.ENCODER]
        whole = {tables.ENCODER: _PARTS[tables.ENCODER]}
        kit.lines(axes, encoder, "alpha", "value", whole, ends=_ENDS, alpha=0.15)
        axes.axhline(float(rows["value"][rows["alpha"] == 1].mean()), zorder=0, **_FINE_TUNED)
        axes.set_xlim(0, 1)

    legend = {
        "whole model, with its classifier": _PARTS[tables.MODEL],
        "encoder: all layers, embeddings": _PARTS[tables.ENCODER],
        "solid: validation": {"color": kit.GREY},
        "dotted: training examples": {"color": kit.GREY, **_DOTTED},
        **{f"layer {n} alone": {"color": colours[n]} for n in (1, len(colours))},
        "fine-tuned": _FINE_TUNED,
    }
    panels = [
        [kit.Panel(losses, "loss", y="Loss", height=1.1)],
        [kit.Panel(scores, "score", x="α (fine-tuned share)", y="Score", height=1.2)],
    ]
    headline = "Between pre-trained and fine-tuned weights"
    return kit.page(sources, headline, panels, most=4, title=titles(metrics), legend=legend)
