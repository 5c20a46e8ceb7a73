"""How strong stripes at special tokens are, by several measures of attention (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from darksecrets.core.plotting import kit
from darksecrets.core.run.columns import (
    EFFECTIVE,
    MEASURE,
    MEASURES,
    NORMS,
    WEIGHTS,
    declare_by_measure,
)
from darksecrets.core.run.states import RANDOM
from darksecrets.paper.features.tables import ATTENTION_LEVELS, GREATEST

LEVELS = declare_by_measure(ATTENTION_LEVELS)
LOOKS = {
    WEIGHTS: kit.line(kit.INK, "o"),
    NORMS: kit.line(kit.BLUE, "s"),
    EFFECTIVE: kit.line(kit.VERMILLION, "^"),
}
"""Line of every measure."""
FEATURES = ("[CLS]", "[SEP]")
_BY_CHANCE = {WEIGHTS: kit.line(kit.GREY, dash=":", width=0.8)}


def draw_stripes_by_measure(sources: kit.Sources) -> kit.Figure:
    """Draw the attention to [CLS] and to [SEP] against the layer, a line for every measure.

    Lines are of the fine-tuned models, means over their seeds, with 95% intervals; dotted lines are
    of an encoder with random weights, by attention weights.
    """
    table = sources.table(LEVELS)
    table = table[table["layer"].notna() & (table["measure"] == GREATEST)]
    shown = [name for name in MEASURES if (table[MEASURE.name] == name).any()]
    looks, by = {name: LOOKS[name] for name in shown}, MEASURE.name

    def levels(axes: kit.Axes, task: str, feature: str) -> None:
        rows = kit.pick(table, task=task, feature=feature, state=["finetuned", RANDOM])
        measured, by_chance = (rows[rows["state"] == s] for s in ("finetuned", RANDOM))
        ends = ("weight_low", "weight_high")
        kit.lines(axes, measured, "layer", "weight", looks, by=by, ends=ends)
        kit.lines(axes, by_chance, "layer", "weight", _BY_CHANCE, by=by)
        axes.set_ylim(0, 1.1 * float(kit.pick(table, feature=feature)["weight"].max()))

    panels = kit.rows(levels, FEATURES, "Layer", "Attention to {}")
    legend = {"effective attention" if name == EFFECTIVE else name: looks[name] for name in shown}
    legend["untrained"] = _BY_CHANCE[WEIGHTS]
    what = "After fine-tuning, by layer; bands are 95% intervals."
    headline = _headline(kit.pick(table, state="finetuned", feature="[SEP]"), shown)
    return kit.page(sources, headline, panels, most=4, legend=legend, what=what)


def _headline(rows: pd.DataFrame, measures: Sequence[str]) -> str:
    """How much attention [SEP] gets by each measure, mean over layers and tasks."""
    means = rows.groupby(MEASURE.name)["weight"].mean()
    said = [f"{100 * means[name]:.0f}% by {_WORDS[name]}" for name in measures]
    return f"[SEP] gets {', '.join(said)}"


_WORDS = {WEIGHTS: "weights", NORMS: "norms", EFFECTIVE: "effective attention"}
